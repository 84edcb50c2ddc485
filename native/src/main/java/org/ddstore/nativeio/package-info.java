// SPDX-License-Identifier: Apache-2.0
/** The native library, without which DDStore runs in Java: a gather kernel and more. */
@Internal
package org.ddstore.nativeio;

import org.ddstore.types.Internal;

// SPDX-License-Identifier: Apache-2.0
/** Index arithmetic that maps rows to ranks. No I/O. */
@Internal
package org.ddstore.layout;

import org.ddstore.types.Internal;

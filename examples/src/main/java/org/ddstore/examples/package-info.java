// SPDX-License-Identifier: Apache-2.0
/** Example programs. */
@Internal
package org.ddstore.examples;

import org.ddstore.types.Internal;

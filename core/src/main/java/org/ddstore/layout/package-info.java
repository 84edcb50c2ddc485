// SPDX-License-Identifier: Apache-2.0
/** Index arithmetic that maps rows to ranks, and sets of rows. No I/O. */
@Internal
package org.ddstore.layout;

import org.ddstore.types.Internal;

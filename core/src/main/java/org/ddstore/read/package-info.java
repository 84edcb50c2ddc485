// SPDX-License-Identifier: Apache-2.0
/** The read of one batch: placement, read plan, staging of remote rows, and gather. */
@Internal
package org.ddstore.read;

import org.ddstore.types.Internal;

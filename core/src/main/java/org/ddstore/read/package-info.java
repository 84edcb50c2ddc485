// SPDX-License-Identifier: Apache-2.0
/**
 * The read of one batch: placement of rows, read plan, staging of remote rows, and the gather into
 * the batch.
 */
@Internal
package org.ddstore.read;

import org.ddstore.types.Internal;

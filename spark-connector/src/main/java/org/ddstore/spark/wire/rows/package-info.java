// SPDX-License-Identifier: Apache-2.0
/** Gather requests for rows and their replies, over data channels or connections. */
@Internal
package org.ddstore.spark.wire.rows;

import org.ddstore.types.Internal;

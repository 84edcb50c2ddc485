// SPDX-License-Identifier: Apache-2.0
/** Messages of collectives, and calls between the processes of a store. */
@Internal
package org.ddstore.spark.wire.calls;

import org.ddstore.types.Internal;

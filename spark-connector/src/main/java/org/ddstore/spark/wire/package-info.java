// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code tcp} transport and the messages of collectives, over spark-network-common, so that
 * Spark's settings for authentication and encryption apply to them.
 */
@Internal
package org.ddstore.spark.wire;

import org.ddstore.types.Internal;

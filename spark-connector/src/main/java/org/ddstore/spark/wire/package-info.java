/**
 * The {@code tcp} transport and the messages of collectives over spark-network-common, so that
 * Spark's own settings authenticate and encrypt them.
 */
@Internal
package org.ddstore.spark.wire;

import org.ddstore.types.Internal;

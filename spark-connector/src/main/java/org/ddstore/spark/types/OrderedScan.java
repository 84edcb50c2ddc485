// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import org.apache.spark.sql.connector.read.Scan;

/**
 * A scan of a data source whose rows come in the same order each time: its partitions have the same
 * order and the same rows, whatever the number of cores, and a partition that is read again has the
 * same rows in the same order. A store numbers such rows as they come, and ranks read only their
 * own; rows of other sources are stored on disk first.
 */
public interface OrderedScan extends Scan {}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.monitor;

import java.util.List;

/**
 * The sums over all readers of a store at one time.
 *
 * @param timeMs time of the collection, in milliseconds since 1970
 * @param calls reads since the load, by read path
 * @param rows rows since the load, by read path
 * @param bytes bytes since the load, by read path
 */
public record ReadSample(long timeMs, List<Long> calls, List<Long> rows, List<Long> bytes) {}

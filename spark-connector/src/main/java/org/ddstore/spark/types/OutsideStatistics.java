// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.io.Serializable;

/**
 * The reads that an executor has served to readers outside of the application, by grant. Rows that
 * readers of the same host read from mapped memory are not known to the executor.
 *
 * @param label label of the grant
 * @param channels number of open connections
 * @param requests number of requests served
 * @param rows number of rows served
 * @param bytes bytes of these rows
 */
public record OutsideStatistics(String label, int channels, long requests, long rows, long bytes)
    implements Serializable {
  private static final long serialVersionUID = 1L;
}

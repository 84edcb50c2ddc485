// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import org.apache.spark.Partition;

/**
 * A partition of an RDD of the connector. Executors read it before the RDD and the function of the
 * task.
 *
 * @param content what the task of the partition needs
 */
public record TaskPartition<T>(int index, Versioned<T> content) implements Partition {
  private static final long serialVersionUID = 1L;

  public static <T> TaskPartition<T> of(int index, T content) {
    return new TaskPartition<>(index, Versioned.of(content));
  }

  /** Returns the content of a partition of an RDD whose partitions have contents of a type. */
  public static <T> T content(Class<T> type, Partition partition) {
    return type.cast(((TaskPartition<?>) partition).content.value());
  }
}

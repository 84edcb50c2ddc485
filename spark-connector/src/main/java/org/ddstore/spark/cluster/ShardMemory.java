// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A count of the memory of shards in this JVM. Thread-safe. */
public final class ShardMemory {
  private static final AtomicLong LOADING = new AtomicLong();
  private static volatile LongSupplier resident = () -> 0;

  private ShardMemory() {}

  /**
   * Adds the memory of a rank that is about to load.
   *
   * @param bytes memory of the rank; negative when its load has ended
   * @return memory of all loading ranks of this JVM, in bytes
   */
  public static long addLoading(long bytes) {
    return LOADING.addAndGet(bytes);
  }

  public static void countResidentBy(LongSupplier count) {
    resident = count;
  }

  public static long residentBytes() {
    return resident.getAsLong();
  }
}

package org.ddstore.spark.cluster;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Bytes of memory that shards take in this JVM. Any thread. */
public final class ShardMemory {
  private static final AtomicLong LOADING = new AtomicLong();
  private static volatile LongSupplier resident = () -> 0;

  private ShardMemory() {}

  /**
   * Adds the bytes of a rank that is about to load.
   *
   * @param bytes negative when its load has ended
   * @return bytes of all ranks of this JVM that load
   */
  public static long addLoading(long bytes) {
    return LOADING.addAndGet(bytes);
  }

  /** Sets what counts the bytes of the resident shards of this JVM. */
  public static void countResidentBy(LongSupplier count) {
    resident = count;
  }

  /** Bytes of the resident shards of this JVM. */
  public static long residentBytes() {
    return resident.getAsLong();
  }
}

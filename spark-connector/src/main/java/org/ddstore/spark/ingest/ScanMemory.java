// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.concurrent.Semaphore;

/**
 * The heap that scans of this process may hold at the same time. All ranks of an executor read
 * their slices at once, and an executor may run far more ranks than its heap has room for scans, so
 * a scan waits here until its estimate fits. First come, first served. Thread-safe.
 *
 * <p>A task holds at most one share and waits for nothing but its source while it does, so the
 * shares cannot form a cycle: a rank meets the other ranks after its last scan is closed.
 */
final class ScanMemory {
  /**
   * Estimate of a scan without the part of the file that it holds: buffers of the reader and the
   * column vectors of a batch of 4,096 rows. Measured on 2026-11-27 with Spark 4.2, as live heap
   * per open scan: 16 to 20 MiB for 4,096 rows of 900 bytes in a Parquet file of 6 MiB, which the
   * reader holds as well.
   */
  static final long SCAN_BYTES = 16L << 20;

  /** The other half is for Spark, for what a rank holds without a scan, and for the collector. */
  private static final int SHARE_OF_HEAP = 2;

  private static final long UNIT_BYTES = 1L << 20;

  private static final ScanMemory OF_PROCESS =
      new ScanMemory(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);

  private final int units;
  private final Semaphore free;

  ScanMemory(long bytes) {
    units = (int) Math.max(1, Math.min(Integer.MAX_VALUE, bytes / UNIT_BYTES));
    free = new Semaphore(units, true);
  }

  static ScanMemory ofProcess() {
    return OF_PROCESS;
  }

  /**
   * Waits for the memory of one scan. A scan that needs more than all waits until it is alone.
   *
   * @param bytes estimated heap of the scan
   * @return the share to close after the scan
   * @throws InterruptedException if the thread is interrupted; nothing is taken
   */
  Share take(long bytes) throws InterruptedException {
    int taken = (int) Math.max(1, Math.min(units, bytes / UNIT_BYTES));
    free.acquire(taken);
    return new Share(taken);
  }

  /** Memory that one scan has taken. For one thread. */
  final class Share implements AutoCloseable {
    private int taken;

    private Share(int taken) {
      this.taken = taken;
    }

    /** Returns the memory. Idempotent. */
    @Override
    public void close() {
      free.release(taken);
      taken = 0;
    }
  }

  @Override
  public String toString() {
    return "ScanMemory[%d of %d MiB free]".formatted(free.availablePermits(), units);
  }
}

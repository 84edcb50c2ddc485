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
   * Heap of a scan beside the part of the file that it holds and the column vectors of a batch.
   * Measured on 2026-11-27 with Spark 4.2 on Parquet files of one row group of 6 MiB and 6,400 rows
   * of 900 bytes: 28 open scans held 550 MB of live heap (class histogram), 20 MB each, of which
   * the row group is 6 MB and the vectors 4 to 8 MB. The same executor held 58 MB after 64 scans
   * had ended.
   */
  private static final long SCAN_BYTES = 8L << 20;

  /**
   * Heap per byte of a file part that is held, in arrays of 8 MiB for which the collector has to
   * find room. With 1, four scans of row groups of 62 MiB ended a heap of 700 MiB by
   * OutOfMemoryError, although their live heap was about 80 MB each (2026-11-27).
   */
  private static final int HELD_GROWTH = 2;

  /** Rows of a batch of columnar readers, spark.sql.parquet.columnarReaderBatchSize. */
  private static final long BATCH_ROWS = 4096;

  /** Column vectors double when they grow. */
  private static final int VECTOR_GROWTH = 2;

  /** Size of a row that no sample has measured yet. */
  static final long UNKNOWN_ROW_BYTES = 1024;

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

  /**
   * Returns the estimated heap of a scan.
   *
   * @param heldBytes part of a file that it holds at once; 0 for text and for what is no file
   * @param rowBytes mean size of a row
   */
  static long estimate(long heldBytes, long rows, long rowBytes) {
    long batchRows = heldBytes == 0 ? BATCH_ROWS : Math.min(rows, BATCH_ROWS);
    long batchRowBytes = heldBytes == 0 ? UNKNOWN_ROW_BYTES : rowBytes;
    return SCAN_BYTES + HELD_GROWTH * heldBytes + VECTOR_GROWTH * batchRows * batchRowBytes;
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
    int heldUnits = (int) Math.max(1, Math.min(units, bytes / UNIT_BYTES));
    free.acquire(heldUnits);
    return new Share(heldUnits);
  }

  /** Memory that one scan has taken. For one thread. */
  final class Share implements AutoCloseable {
    private int heldUnits;

    private Share(int heldUnits) {
      this.heldUnits = heldUnits;
    }

    /** Returns the memory. Idempotent. */
    @Override
    public void close() {
      free.release(heldUnits);
      heldUnits = 0;
    }
  }

  @Override
  public String toString() {
    return "ScanMemory[%d of %d MiB free]".formatted(free.availablePermits(), units);
  }
}

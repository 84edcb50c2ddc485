// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A bounded number of arrays for chunks, which are reused. Thread-safe. */
final class ChunkMemory {
  private final int chunkSize;
  private final Semaphore available;
  private final Queue<byte[]> free = new ArrayDeque<>();

  ChunkMemory(int chunkSize, int chunks) {
    this.chunkSize = chunkSize;
    this.available = new Semaphore(chunks);
  }

  /** Takes an array, of unspecified content; null if all are in use until the timeout. */
  byte[] take(long timeoutNs) throws InterruptedException {
    if (!available.tryAcquire(timeoutNs, TimeUnit.NANOSECONDS)) {
      return null;
    }
    synchronized (free) {
      byte[] array = free.poll();
      return array == null ? new byte[chunkSize] : array;
    }
  }

  void give(byte[] array) {
    synchronized (free) {
      free.add(array);
    }
    available.release();
  }
}

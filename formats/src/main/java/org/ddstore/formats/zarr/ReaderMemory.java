// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.ReadBudget;

/**
 * The bytes that all arrays of one reader hold: chunks, indices of shards, and the values of the
 * current batch of rows. Not thread-safe.
 */
final class ReaderMemory {
  private static final long NO_BATCH = -1;

  private final long heldLimit = ReadBudget.heldBytes();
  private final long claimLimit = ReadBudget.claimBytes();
  private final List<ChunkCache> caches = new ArrayList<>();
  private long chunks;
  private long batch = NO_BATCH;
  private long values;
  private long claimed;

  /** Creates a cache of an array whose chunks count. */
  ChunkCache cache(long maxBytes) {
    ChunkCache cache = new ChunkCache(Math.min(maxBytes, claimLimit), this);
    caches.add(cache);
    return cache;
  }

  /** Returns the number of bytes that can be used beside those that are held. */
  long freeBytes() {
    return Math.max(0, heldLimit - chunks - values);
  }

  /** Counts bytes of chunks and indices; negative for those that are released. */
  void add(long bytes) {
    chunks += bytes;
  }

  /** Checks that bytes can be used beside those that are held. */
  void require(String file, String object, long bytes) {
    if (bytes > freeBytes()) {
      caches.forEach(ChunkCache::keepLast);
    }
    if (bytes > freeBytes()) {
      long others = chunks + values;
      ReadBudget.requireHeld(
          file,
          others < bytes ? object : object + ", with other arrays of the row",
          bytes > Long.MAX_VALUE - others ? -1 : bytes + others);
    }
  }

  /** Begins a batch of rows, unless it is the current one. */
  void startBatch(long firstRow) {
    if (firstRow != batch) {
      endBatch();
      batch = firstRow;
    }
  }

  /** Ends the batch of rows: its values are not used any more. */
  void endBatch() {
    batch = NO_BATCH;
    values = 0;
    claimed = 0;
  }

  /** Counts bytes of values of the current batch. */
  void addValues(String file, long bytes) {
    require(file, "the values of a row", bytes);
    values += bytes;
  }

  /**
   * Counts the values of a box of an array for the current batch.
   *
   * @throws FormatException if they are too many, or no chunks back them
   */
  void addValues(ZarrArray array, long[] start, int... lengths) throws IOException {
    long bytes = array.bytes(lengths);
    addValues(array.path(), bytes);
    if (bytes > ReadBudget.MAX_ARRAY_LENGTH) {
      throw FormatException.of(
          array.path(),
          "the values of a row",
          "%,d bytes, more than the limit of %,d".formatted(bytes, ReadBudget.MAX_ARRAY_LENGTH));
    }
    if (values <= claimLimit || !array.isBacked(bytes, start, lengths)) {
      claimed += bytes;
      ReadBudget.requireClaim(
          array.path(), "the values of a row, of which most chunks are missing", claimed);
    }
  }
}

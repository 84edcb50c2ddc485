// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.util.LinkedHashMap;
import java.util.Map;

/** The decoded chunks of an array that were used last, of a bounded size; always the last one. */
final class ChunkCache {
  private static final int CAPACITY = 16;
  private static final float LOAD = 0.75f;

  /** Memory of a chunk beside its elements; the chunks of fill values have none of their own. */
  private static final int ENTRY_BYTES = 256;

  private final Map<Long, Chunk> chunks = new LinkedHashMap<>(CAPACITY, LOAD, true);
  private final long maxBytes;
  private final ReaderMemory memory;
  private long bytes;

  ChunkCache(long maxBytes, ReaderMemory memory) {
    this.maxBytes = maxBytes;
    this.memory = memory;
  }

  /** Returns a chunk by its number; null if it is not kept. */
  Chunk get(long number) {
    return chunks.get(number);
  }

  /** Removes chunks, the oldest ones first, until another one fits or none is left. */
  void makeRoom(long size) {
    while (!chunks.isEmpty() && (bytes > maxBytes || size > maxBytes - bytes)) {
      removeOldest();
    }
  }

  /** Removes all chunks but the one that was used last. */
  void keepLast() {
    while (chunks.size() > 1) {
      removeOldest();
    }
  }

  private void removeOldest() {
    remove(chunks.keySet().iterator().next());
  }

  /** Removes a chunk, which must be kept. */
  void remove(long number) {
    long removed = chunks.remove(number).bytes() + ENTRY_BYTES;
    bytes -= removed;
    memory.add(-removed);
  }

  /** Keeps a chunk that is not kept yet. */
  void put(long number, Chunk chunk) {
    long added = chunk.bytes() + ENTRY_BYTES;
    makeRoom(added);
    chunks.put(number, chunk);
    bytes += added;
    memory.add(added);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The decoded chunks of an array that were used last, of a bounded size; always the last one. */
final class ChunkCache {
  private static final int CAPACITY = 16;
  private static final float LOAD = 0.75f;

  private final Map<Long, Chunk> chunks = new LinkedHashMap<>(CAPACITY, LOAD, true);
  private final long maxBytes;
  private long bytes;

  ChunkCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns a chunk by its number; null if it is not kept. */
  Chunk get(long number) {
    return chunks.get(number);
  }

  void put(long number, Chunk chunk) {
    Chunk old = chunks.put(number, chunk);
    bytes += chunk.bytes() - (old == null ? 0 : old.bytes());
    Iterator<Chunk> oldest = chunks.values().iterator();
    while (bytes > maxBytes && chunks.size() > 1) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }
}

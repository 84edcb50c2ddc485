// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.source.CloseAll;

/**
 * Chunks in shards: a file has the chunks of one cell of the grid, in any order, and an index of
 * offset and size of each in C order. The shards that were used last stay open.
 */
final class ShardedChunks implements ChunkSource {
  private static final int OPEN_SHARDS = 8;

  /** Above this size of all indices in memory, fewer shards stay open. */
  private static final long MAX_INDEX_BYTES = 32 << 20;

  private static final int ENTRY_BYTES = 16;

  /** Largest number of chunks in a shard: its index is one buffer. */
  static final int MAX_CHUNKS = Integer.MAX_VALUE / ENTRY_BYTES - 1;

  private static final long MISSING = -1;
  private static final float LOAD = 0.75f;

  private final InputFile folder;
  private final ChunkGrid shards;
  private final int[] inner;
  private final Index index;
  private final ReaderMemory memory;
  private final Map<Long, Shard> open = new LinkedHashMap<>(OPEN_SHARDS, LOAD, true);
  private long indexBytes;

  /**
   * The layout of an index.
   *
   * @param atEnd whether it is at the end of the file, else at the start
   * @param hasChecksum whether a CRC-32C follows it
   */
  record Index(boolean atEnd, boolean hasChecksum, boolean bigEndian) {}

  /** An open shard; without content if the file is missing. */
  private record Shard(InputFile file, InputFile.Content content, ByteBuffer index) {
    int indexBytes() {
      return index == null ? 0 : index.capacity();
    }
  }

  /** The bytes of a chunk in an open shard. */
  private record Place(Shard shard, long offset, long size) {}

  /**
   * @param shards grid of the shards
   * @param inner shape of a chunk in a shard, which divides that of the shard
   */
  ShardedChunks(InputFile folder, ChunkGrid shards, int[] inner, Index index, ReaderMemory memory) {
    this.folder = folder;
    this.shards = shards;
    this.inner = inner;
    this.index = index;
    this.memory = memory;
  }

  private long[] shardOf(long... coordinates) {
    long[] shard = new long[coordinates.length];
    for (int d = 0; d < shard.length; d++) {
      shard[d] = coordinates[d] / perShard(d);
    }
    return shard;
  }

  private long perShard(int axis) {
    return shards.chunk()[axis] / inner[axis];
  }

  private long chunksPerShard() {
    long count = 1;
    for (int d = 0; d < inner.length; d++) {
      count *= perShard(d); // at most MAX_CHUNKS
    }
    return count;
  }

  @Override
  public String path(long... coordinates) {
    return folder.path() + "/" + shards.key(shardOf(coordinates));
  }

  @Override
  public ByteBuffer read(long... coordinates) throws IOException {
    Place place = place(coordinates);
    if (place == null) {
      return null;
    }
    memory.require(path(coordinates), "the chunk", place.size());
    ByteBuffer bytes = ByteBuffer.allocate((int) place.size());
    place.shard().content().read(place.offset(), bytes);
    return bytes.flip();
  }

  @Override
  public long length(long... coordinates) throws IOException {
    Place place = place(coordinates);
    return place == null ? 0 : place.size();
  }

  /** Returns the place of a chunk; null if it is missing. */
  private Place place(long... coordinates) throws IOException {
    Shard shard = shard(shardOf(coordinates));
    if (shard.content() == null) {
      return null;
    }
    int number = 0;
    for (int d = 0; d < coordinates.length; d++) {
      number = number * (int) perShard(d) + (int) (coordinates[d] % perShard(d));
    }
    long offset = shard.index().getLong(number * ENTRY_BYTES);
    long size = shard.index().getLong(number * ENTRY_BYTES + Long.BYTES);
    if (offset == MISSING && size == MISSING) {
      return null;
    }
    long end = shard.file().length();
    if (offset < 0 || size < 0 || size > ReadBudget.MAX_ARRAY_LENGTH || offset > end - size) {
      throw new FormatException(
          path(coordinates),
          "truncated or damaged: the index of the shard places chunk %d at %s bytes from %s, the file has %,d"
              .formatted(number, Long.toUnsignedString(size), Long.toUnsignedString(offset), end));
    }
    return new Place(shard, offset, size);
  }

  private Shard shard(long... coordinates) throws IOException {
    long number = shards.number(coordinates);
    Shard shard = open.get(number);
    if (shard == null) {
      shard = openShard(coordinates);
      open.put(number, shard);
      indexBytes += shard.indexBytes();
      memory.add(shard.indexBytes());
    }
    return shard;
  }

  private Shard openShard(long... coordinates) throws IOException {
    Optional<InputFile> found = folder.find(shards.key(coordinates));
    if (found.isEmpty()) {
      closeOldest(0);
      return new Shard(null, null, null);
    }
    InputFile file = found.get();
    int checksum = index.hasChecksum() ? Compression.CRC_BYTES : 0;
    if (chunksPerShard() > (file.length() - checksum) / ENTRY_BYTES) {
      throw new FormatException(
          file.path(),
          "truncated: %,d bytes, fewer than those of an index of %,d chunks of a shard"
              .formatted(file.length(), chunksPerShard()));
    }
    long size = chunksPerShard() * ENTRY_BYTES + checksum;
    closeOldest(size);
    memory.require(file.path(), "the index of the shard", size);
    InputFile.Content content = file.open();
    try {
      ByteBuffer bytes = ByteBuffer.allocate((int) size);
      content.read(index.atEnd() ? file.length() - size : 0, bytes);
      bytes.flip();
      if (index.hasChecksum()) {
        bytes = checked(file, bytes);
      }
      ByteBuffer ordered =
          bytes.slice().order(index.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
      return new Shard(file, content, ordered);
    } catch (IOException | RuntimeException e) {
      content.close();
      throw e;
    }
  }

  /** Closes the shards that were used first until another one can be opened. */
  private void closeOldest(long moreBytes) throws IOException {
    Iterator<Shard> oldest = open.values().iterator();
    while (oldest.hasNext()
        && (open.size() >= OPEN_SHARDS || indexBytes + moreBytes > MAX_INDEX_BYTES)) {
      Shard closed = oldest.next();
      oldest.remove();
      indexBytes -= closed.indexBytes();
      memory.add(-closed.indexBytes());
      CloseAll.of(closed.content());
    }
  }

  private static ByteBuffer checked(InputFile file, ByteBuffer bytes) {
    try {
      return Compression.crc32c(bytes);
    } catch (IOException e) {
      throw FormatException.of(file.path(), "index of the shard", e.getMessage());
    }
  }

  @Override
  public void close() throws IOException {
    Shard[] closed = open.values().toArray(Shard[]::new);
    open.clear();
    CloseAll.of(Arrays.stream(closed).map(Shard::content).toArray(Closeable[]::new));
  }
}

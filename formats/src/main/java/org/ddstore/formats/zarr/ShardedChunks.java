// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;

/**
 * Chunks in shards: a file has the chunks of one cell of the grid, in any order, and an index of
 * offset and size of each in C order. The shards that were used last stay open.
 */
final class ShardedChunks implements ChunkSource {
  private static final int OPEN_SHARDS = 8;
  private static final int ENTRY_BYTES = 16;
  private static final int CRC_BYTES = 4;
  private static final long MISSING = -1;
  private static final float LOAD = 0.75f;

  private final InputFile folder;
  private final ChunkGrid shards;
  private final int[] inner;
  private final Index index;
  private final Map<Long, Shard> open = new LinkedHashMap<>(OPEN_SHARDS, LOAD, true);

  /**
   * The layout of an index.
   *
   * @param atEnd whether it is at the end of the file, else at the begin
   * @param hasChecksum whether a CRC-32C follows it
   */
  record Index(boolean atEnd, boolean hasChecksum, boolean bigEndian) {}

  /** An open shard; without content if the file is missing. */
  private record Shard(InputFile file, InputFile.Content content, ByteBuffer index) {}

  /**
   * @param shards grid of the shards
   * @param inner shape of a chunk in a shard, which divides that of the shard
   */
  ShardedChunks(InputFile folder, ChunkGrid shards, int[] inner, Index index) {
    this.folder = folder;
    this.shards = shards;
    this.inner = inner;
    this.index = index;
  }

  private long[] shardOf(long... coordinates) {
    long[] shard = new long[coordinates.length];
    for (int d = 0; d < shard.length; d++) {
      shard[d] = coordinates[d] / perShard(d);
    }
    return shard;
  }

  private int perShard(int axis) {
    return shards.chunk()[axis] / inner[axis];
  }

  private int chunksPerShard() {
    int count = 1;
    for (int d = 0; d < inner.length; d++) {
      count *= perShard(d);
    }
    return count;
  }

  @Override
  public String path(long... coordinates) {
    return folder.path() + "/" + shards.key(shardOf(coordinates));
  }

  @Override
  public ByteBuffer read(long... coordinates) throws IOException {
    Shard shard = shard(shardOf(coordinates));
    if (shard.content() == null) {
      return null;
    }
    int number = 0;
    for (int d = 0; d < coordinates.length; d++) {
      number = number * perShard(d) + (int) (coordinates[d] % perShard(d));
    }
    long offset = shard.index().getLong(number * ENTRY_BYTES);
    long size = shard.index().getLong(number * ENTRY_BYTES + Long.BYTES);
    if (offset == MISSING && size == MISSING) {
      return null;
    }
    long end = shard.file().length();
    if (offset < 0 || size < 0 || size > ByteCodec.UNKNOWN || offset > end - size) {
      throw new FormatException(
          path(coordinates),
          "truncated or damaged: the index of the shard places chunk %d at bytes [%d, %d), the file has %,d"
              .formatted(number, offset, offset + size, end));
    }
    ByteBuffer bytes = ByteBuffer.allocate((int) size);
    shard.content().read(offset, bytes);
    return bytes.flip();
  }

  private Shard shard(long... coordinates) throws IOException {
    long number = shards.number(coordinates);
    Shard shard = open.get(number);
    if (shard != null) {
      return shard;
    }
    if (open.size() == OPEN_SHARDS) {
      Iterator<Shard> oldest = open.values().iterator();
      Shard closed = oldest.next();
      oldest.remove();
      close(closed);
    }
    shard = openShard(coordinates);
    open.put(number, shard);
    return shard;
  }

  private Shard openShard(long... coordinates) throws IOException {
    InputFile file;
    try {
      file = folder.resolve(shards.key(coordinates));
    } catch (FileNotFoundException e) {
      return new Shard(null, null, null);
    }
    int entries = Math.multiplyExact(chunksPerShard(), ENTRY_BYTES);
    int size = entries + (index.hasChecksum() ? CRC_BYTES : 0);
    if (file.length() < size) {
      throw new FormatException(
          file.path(),
          "truncated: %,d bytes, fewer than the %,d of the index of a shard"
              .formatted(file.length(), size));
    }
    InputFile.Content content = file.open();
    try {
      ByteBuffer bytes = ByteBuffer.allocate(size);
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

  private static ByteBuffer checked(InputFile file, ByteBuffer bytes) {
    try {
      return Compression.crc32c(bytes, ByteCodec.UNKNOWN);
    } catch (IOException e) {
      throw FormatException.of(file.path(), "index of the shard", e.getMessage());
    }
  }

  private static void close(Shard shard) throws IOException {
    if (shard.content() != null) {
      shard.content().close();
    }
  }

  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (Shard shard : open.values()) {
      try {
        close(shard);
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    open.clear();
    if (failure != null) {
      throw failure;
    }
  }
}

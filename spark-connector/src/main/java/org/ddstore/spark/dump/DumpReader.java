// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.spark.types.InvalidDumpException.Problem;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Schema;

/**
 * A reader of one data file of a dump. Holds one block, outside of the heap, and its index. Passes
 * no record on before the checksum of its block has been verified. Used by one thread.
 */
final class DumpReader implements AutoCloseable {
  private static final int STAGING_BYTES = 1 << 18;

  private final String path;
  private final DumpedFile file;
  private final Schema schema;
  private final FSDataInputStream in;
  private final GrowingBuffer block = new GrowingBuffer();
  private final byte[] staging = new byte[STAGING_BYTES];
  private boolean closed;

  /**
   * Opens a file.
   *
   * @throws InvalidDumpException if the file is missing
   */
  DumpReader(DumpDirectory directory, String folder, DumpedFile file, Schema schema) {
    String entry = folder + "/" + file.name();
    this.path = directory.entry(entry).toString();
    this.file = file;
    this.schema = schema;
    try {
      this.in = directory.open(entry);
    } catch (DumpException e) {
      block.close();
      throw e.getCause() instanceof FileNotFoundException
          ? damaged("is missing; all executors must reach the same directory", e.getCause())
          : e;
    }
  }

  private InvalidDumpException damaged(String what, Throwable cause) {
    return damaged(path, what, cause);
  }

  static InvalidDumpException damaged(String path, String what, Throwable cause) {
    return new InvalidDumpException(
        Problem.DAMAGED,
        "file %s of a dump %s: restore the file, or dump the store again".formatted(path, what),
        cause);
  }

  /**
   * Passes records to a consumer, in order.
   *
   * @param from global index of the first row, in [firstRow, endRow] of the file
   * @param end global index of the row after the last one, in [from, endRow]
   * @param taker receives a little-endian buffer with one record from position to limit, which is
   *     valid during the call only
   * @throws InvalidDumpException if the file is truncated or damaged
   */
  void copy(long from, long end, Consumer<ByteBuffer> taker) {
    ByteBuffer index = index();
    long row = file.firstRow();
    long position = DumpedFile.MAGIC_BYTES;
    while (index.hasRemaining() && row < end) {
      int blockRows = index.getInt();
      int blockBytes = index.getInt();
      int crc = index.getInt();
      int maxBytes = blockRows == 1 ? Schema.MAX_RECORD_BYTES : DumpWriter.BLOCK_BYTES;
      if (blockRows < 1
          || blockBytes < 0
          || blockBytes > Math.min(maxBytes, file.indexPosition() - position)) {
        throw damaged("has an index that does not fit its records", null);
      }
      if (row + blockRows > from) {
        ByteBuffer records = read(position, blockBytes, crc);
        pass(records, row, blockRows, from, end, taker);
      }
      row += blockRows;
      position += blockBytes;
    }
    if (row < end) {
      throw damaged("has %,d rows less than its manifest".formatted(end - row), null);
    }
  }

  private ByteBuffer index() {
    if (file.blocks() < 0 || file.dataBytes() < 0 || file.blocks() > file.maxBlocks()) {
      throw damaged("has an impossible length in its manifest", null);
    }
    byte[] magic = readFully(0, DumpedFile.MAGIC_BYTES);
    if (littleEndian(magic).getLong() != DumpedFile.MAGIC) {
      throw damaged("does not begin like a data file", null);
    }
    byte[] index = readFully(file.indexPosition(), file.blocks() * DumpedFile.ENTRY_BYTES);
    CRC32C crc = new CRC32C();
    crc.update(index);
    if ((int) crc.getValue() != file.indexCrc()) {
      throw damaged("has an index with a wrong checksum", null);
    }
    return littleEndian(index);
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Reads bytes into memory that grows with what the file has. */
  private byte[] readFully(long position, int length) {
    try {
      in.seek(position);
      byte[] bytes = in.readNBytes(length);
      if (bytes.length < length) {
        throw new EOFException();
      }
      return bytes;
    } catch (IOException | FSError e) {
      throw failure(e);
    }
  }

  private DumpException failure(Throwable e) {
    return failure(path, e);
  }

  static DumpException failure(String path, Throwable e) {
    if (e instanceof EOFException) {
      return damaged(path, "is truncated", e);
    }
    return e instanceof ChecksumException
        ? damaged(path, "has a wrong checksum", e)
        : DumpDirectory.failure("read", path, e);
  }

  private ByteBuffer read(long position, int bytes, int expectedCrc) {
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while file %s of a dump was read".formatted(path));
    }
    ByteBuffer target =
        block.ensure(bytes).duplicate().order(ByteOrder.LITTLE_ENDIAN).clear().limit(bytes);
    CRC32C crc = new CRC32C();
    try {
      in.seek(position);
      while (target.hasRemaining()) {
        int part = Math.min(target.remaining(), staging.length);
        in.readFully(staging, 0, part);
        crc.update(staging, 0, part);
        target.put(staging, 0, part);
      }
    } catch (IOException | FSError e) {
      throw failure(e);
    }
    if ((int) crc.getValue() != expectedCrc) {
      throw damaged(
          "has a wrong checksum in bytes [%,d, %,d)".formatted(position, position + bytes), null);
    }
    return target.flip();
  }

  private void pass(
      ByteBuffer records, long firstRow, int count, long from, long end, Consumer<ByteBuffer> to) {
    int position = 0;
    for (long row = firstRow; row < Math.min(end, firstRow + count); row++) {
      int length = recordBytes(records, position);
      if (row >= from) {
        to.accept(records.slice(position, length).order(ByteOrder.LITTLE_ENDIAN));
      }
      position += length;
    }
  }

  private int recordBytes(ByteBuffer records, int position) {
    int rest = records.limit() - position;
    IllegalArgumentException negative = null;
    long length = Long.MAX_VALUE;
    try {
      length = rest < schema.prefixBytes() ? length : schema.recordBytes(records, position);
    } catch (IllegalArgumentException e) { // a length is negative
      negative = e;
    }
    if (length > rest) {
      throw damaged("has records of another schema", negative);
    }
    return (int) length;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      block.close();
      try {
        in.close();
      } catch (IOException | FSError e) {
        throw DumpDirectory.failure("close", path, e);
      }
    }
  }

  @Override
  public String toString() {
    return "DumpReader[%s]".formatted(path);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.types.DumpException;
import org.ddstore.types.DDStoreException;

/**
 * A writer of one data file of a dump, in constant memory apart from 12 bytes per block. A file
 * whose writer is closed before {@link #finish()} is not part of the dump. Used by one thread.
 */
final class DumpWriter implements AutoCloseable {
  /** Largest size of a block of several records in bytes; a larger record has its own block. */
  static final int BLOCK_BYTES = 4 << 20;

  private static final int STAGING_BYTES = 1 << 18;

  private final DumpDirectory directory;
  private final String folder;
  private final String name;
  private final long firstRow;
  private final FSDataOutputStream out;
  private final byte[] staging = new byte[STAGING_BYTES];
  private final ByteArrayOutputStream index = new ByteArrayOutputStream();
  private final RowDigest digest = new RowDigest();
  private final CRC32C blockCrc = new CRC32C();
  private int staged;
  private int blockRows;
  private int blockBytes;
  private int blocks;
  private long rows;
  private long bytes;
  private boolean closed;

  /**
   * @param name name of the new file
   * @param firstRow global index of its first row
   */
  DumpWriter(DumpDirectory directory, String folder, String name, long firstRow) {
    this.directory = directory;
    this.folder = folder;
    this.name = name;
    this.firstRow = firstRow;
    this.out = directory.create(entry());
    try {
      byte[] magic = new byte[DumpedFile.MAGIC_BYTES];
      littleEndian(magic).putLong(DumpedFile.MAGIC);
      write(magic, magic.length);
    } catch (RuntimeException | Error e) {
      closeAfter(e);
      throw e;
    }
  }

  private String entry() {
    return folder + "/" + name;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Appends the next record.
   *
   * @param record little-endian record from position to limit
   */
  void append(ByteBuffer record) {
    int length = record.remaining();
    if (blockRows > 0 && (long) blockBytes + length > BLOCK_BYTES) {
      endBlock();
    }
    digest.add(firstRow + rows, record, record.position(), length);
    ByteBuffer rest = record.duplicate();
    while (rest.hasRemaining()) {
      if (staged == staging.length) {
        flush();
      }
      int part = Math.min(rest.remaining(), staging.length - staged);
      rest.get(staging, staged, part);
      staged += part;
    }
    rows++;
    blockRows++;
    blockBytes += length;
  }

  private void flush() {
    blockCrc.update(staging, 0, staged);
    write(staging, staged);
    staged = 0;
  }

  private void endBlock() {
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted at row %,d of the dump".formatted(firstRow + rows));
    }
    flush();
    byte[] entry = new byte[DumpedFile.ENTRY_BYTES];
    littleEndian(entry).putInt(blockRows).putInt(blockBytes).putInt((int) blockCrc.getValue());
    index.writeBytes(entry);
    blocks++;
    blockCrc.reset();
    blockRows = 0;
    blockBytes = 0;
  }

  private void write(byte[] source, int length) {
    try {
      out.write(source, 0, length);
    } catch (IOException | FSError e) {
      throw failure(e);
    }
    bytes += length;
  }

  private DumpException failure(Throwable e) {
    return DumpDirectory.failure("write", directory.entry(entry()).toString(), e);
  }

  /** Writes the index, forces the file to disk where the file system can, and closes it. */
  DumpedFile finish() {
    if (blockRows > 0) {
      endBlock();
    }
    byte[] entries = index.toByteArray();
    write(entries, entries.length);
    CRC32C indexCrc = new CRC32C();
    indexCrc.update(entries);
    try {
      DumpDirectory.sync(out);
      closed = true;
      out.close();
    } catch (IOException | FSError e) {
      throw failure(e);
    }
    return new DumpedFile(
        name,
        firstRow,
        rows,
        bytes,
        blocks,
        (int) indexCrc.getValue(),
        digest.high(),
        digest.low());
  }

  private void closeAfter(Throwable failure) {
    try {
      close();
    } catch (DumpException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      try {
        out.close();
      } catch (IOException | FSError e) {
        throw failure(e);
      }
    }
  }

  @Override
  public String toString() {
    return "DumpWriter[%s, %,d rows]".formatted(directory.entry(entry()), rows);
  }
}

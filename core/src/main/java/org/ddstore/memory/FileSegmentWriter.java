// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Schema;

/**
 * A writer of segments in files that other processes of this host can map.
 *
 * <p>Until the seal, the bytes are written, not mapped, and their space is reserved first. A full
 * file system is then an exception, while a write to a mapped page would end the process with
 * SIGBUS.
 */
final class FileSegmentWriter extends SegmentWriter {
  private static final int STAGING_BYTES = 1 << 20;
  private static final int OFFSET_STAGING_BYTES = 64 << 10;

  private final SegmentFiles files;
  private final FileChannel data;
  private final FileChannel offsets;
  private final FileSpace dataSpace;
  private final FileSpace offsetSpace;
  private final OffHeapBuffer dataStaging;
  private final OffHeapBuffer offsetStaging;
  private final List<Long> chunkStart = new ArrayList<>();
  private final int headerBytes;

  private FileSegmentWriter(
      Schema schema,
      SegmentFiles files,
      FileChannel data,
      FileChannel offsets,
      OffHeapBuffer dataStaging,
      OffHeapBuffer offsetStaging) {
    super(schema);
    this.files = files;
    this.data = data;
    this.offsets = offsets;
    this.dataSpace = files.spaceOfData(data);
    this.offsetSpace = offsets == null ? null : files.spaceOfOffsets(offsets);
    this.headerBytes = SegmentHeader.bytesFor(schema);
    this.dataStaging = dataStaging;
    this.offsetStaging = offsetStaging;
  }

  /** Creates a writer. File access by an interrupted thread fails and must not leave files open. */
  static FileSegmentWriter create(Path root, String name, Schema schema) {
    SegmentFiles files = SegmentFiles.create(root, name);
    try {
      return create(schema, files);
    } catch (IOException e) {
      files.close();
      throw new DDStoreException("cannot create %s: %s".formatted(files.location(), reason(e)), e);
    } catch (RuntimeException | Error e) {
      files.close();
      throw e;
    }
  }

  private static FileSegmentWriter create(Schema schema, SegmentFiles files) throws IOException {
    FileChannel data = files.createData();
    FileChannel offsets = null;
    OffHeapBuffer dataStaging = null;
    OffHeapBuffer offsetStaging = null;
    try {
      dataStaging = OffHeapBuffer.allocate(STAGING_BYTES);
      data.position(SegmentHeader.bytesFor(schema));
      if (!schema.isFixed()) {
        offsets = files.createOffsets();
        offsets.position(OffsetsFile.HEADER_BYTES);
        offsetStaging = OffHeapBuffer.allocate(OFFSET_STAGING_BYTES);
      }
      return new FileSegmentWriter(schema, files, data, offsets, dataStaging, offsetStaging);
    } catch (IOException | RuntimeException | Error e) {
      closeAll(data, offsets, dataStaging, offsetStaging);
      throw e;
    }
  }

  private static String reason(IOException e) {
    return e instanceof ClosedByInterruptException ? "the thread was interrupted" : e.getMessage();
  }

  @Override
  void beginRecord(long offset, int length) {
    long start = chunkStart.isEmpty() ? -1 : chunkStart.get(chunkStart.size() - 1);
    if (start < 0 || offset + length - start > ChunkLayout.MAX_BYTES) {
      chunkStart.add(offset);
    }
    putOffset(offset);
  }

  private void putOffset(long offset) {
    ByteBuffer staging = offsetStaging.buffer();
    if (!staging.hasRemaining()) {
      flush(offsets, offsetSpace, staging);
    }
    staging.putLong(offset);
  }

  @Override
  void write(ByteBuffer records) {
    ByteBuffer staging = dataStaging.buffer();
    int end = records.limit();
    while (records.hasRemaining()) {
      if (!staging.hasRemaining()) {
        flush(data, dataSpace, staging);
      }
      int length = Math.min(records.remaining(), staging.remaining());
      staging.put(records.limit(records.position() + length));
      records.limit(end);
    }
  }

  private void flush(FileChannel channel, FileSpace space, ByteBuffer staging) {
    staging.flip();
    try {
      space.ensure(channel.position() + staging.remaining());
      while (staging.hasRemaining()) {
        channel.write(staging);
      }
    } catch (IOException e) {
      throw noRoom(e);
    } finally {
      staging.clear();
    }
  }

  @Override
  Segment finish(long rowCount, long byteCount) throws IOException {
    flush(data, dataSpace, dataStaging.buffer());
    dataSpace.cut(data.position());
    SegmentHeader header =
        new SegmentHeader(
            Nonce.random(),
            BootId.ofThisHost(),
            headerBytes,
            rowCount,
            byteCount,
            schema().isFixed() ? ChunkLayout.rowShift(schema(), ChunkLayout.MAX_BYTES) : 0,
            schema());
    if (offsets != null) {
      putOffset(byteCount);
      chunkStart.add(byteCount);
      chunkStart.forEach(this::putOffset);
      flush(offsets, offsetSpace, offsetStaging.buffer());
      offsetSpace.cut(offsets.position());
      write(offsets, OffsetsFile.header(header, chunkStart.size() - 1));
    }
    write(data, header.encode());
    Segment segment = files.open(header, FileChannel.MapMode.READ_WRITE, data, offsets);
    closeStaging();
    return segment;
  }

  /** Writes a header. It is written last, because a file without a header is not sealed. */
  private static void write(FileChannel channel, ByteBuffer header) throws IOException {
    ByteBuffer bytes = header.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      channel.write(bytes, bytes.position());
    }
  }

  private void closeStaging() throws IOException {
    closeAll(data, offsets, dataStaging, offsetStaging);
  }

  /** Closes all arguments; null stands for a resource that was not opened. */
  private static void closeAll(
      FileChannel data, FileChannel offsets, OffHeapBuffer dataStaging, OffHeapBuffer offsetStaging)
      throws IOException {
    try (data;
        offsets;
        dataStaging;
        offsetStaging) {
      // Closes all in reverse order, even if one fails.
    }
  }

  @Override
  void discard() {
    try {
      closeStaging();
    } catch (IOException e) {
      throw new DDStoreException("cannot close " + files.location(), e);
    } finally {
      files.close();
    }
  }

  @Override
  String location() {
    return files.location();
  }
}

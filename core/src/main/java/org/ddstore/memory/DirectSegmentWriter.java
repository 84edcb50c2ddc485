// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.ddstore.types.Schema;

/** A writer of segments in direct buffers: chunks of up to 64 MiB, which grow by doubling. */
final class DirectSegmentWriter extends SegmentWriter {
  private static final int CHUNK_BYTES = 64 << 20;
  private static final int FIRST_BYTES = 64 << 10;
  private static final int ENTRY_SHIFT = 17;
  private static final int HEADER_BYTES = 128;

  private final String name;
  private final int rowShift;
  private final List<OffHeapBuffer> chunks = new ArrayList<>();
  private final List<OffHeapBuffer> entries = new ArrayList<>();
  private final List<Long> chunkStart = new ArrayList<>();
  private long offsetCount;
  private int maxBytes;
  private ByteBuffer current = ByteBuffer.allocate(0);

  DirectSegmentWriter(String name, Schema schema) {
    super(schema);
    this.name = name;
    this.rowShift = schema.isFixed() ? ChunkLayout.rowShift(schema, CHUNK_BYTES) : 0;
  }

  @Override
  void beginRecord(long offset, int length) {
    if (current.remaining() < length && !grow(length)) {
      trimLast();
      chunkStart.add(offset);
      newChunk(Math.max(CHUNK_BYTES, length), length);
    }
    putOffset(offset);
  }

  private void putOffset(long offset) {
    int index = (int) (offsetCount & (1 << ENTRY_SHIFT) - 1);
    if (index == 0) {
      entries.add(memory((long) Long.BYTES << ENTRY_SHIFT));
    }
    entries.get(entries.size() - 1).buffer().putLong(index * Long.BYTES, offset);
    offsetCount++;
  }

  /** Allocates memory; a process without address space or memory is no reason to end it. */
  private OffHeapBuffer memory(long bytesNeeded) {
    try {
      return OffHeapBuffer.allocate(bytesNeeded);
    } catch (OutOfMemoryError e) {
      throw noRoom(new IOException(e.getMessage(), e));
    }
  }

  /** Begins a chunk with room for {@code needed} bytes that may grow to {@code limit} bytes. */
  private void newChunk(int limit, int needed) {
    OffHeapBuffer chunk = memory(Math.min(limit, Math.max(needed, FIRST_BYTES)));
    chunks.add(chunk);
    current = chunk.buffer();
    maxBytes = limit;
  }

  /** Makes room for {@code needed} bytes in the last chunk; returns false if it cannot grow. */
  private boolean grow(int needed) {
    int filled = current.position();
    if (maxBytes - filled < needed) {
      return false;
    }
    long bytes = Math.max((long) filled + needed, 2L * current.capacity());
    OffHeapBuffer larger = memory(Math.min(maxBytes, bytes));
    larger.buffer().put(0, current, 0, filled);
    chunks.set(chunks.size() - 1, larger).close();
    current = larger.buffer().position(filled);
    return true;
  }

  /** Frees the unused part of the last chunk, if it is large enough to justify a copy. */
  private void trimLast() {
    if (current.remaining() <= current.capacity() / 128) {
      return;
    }
    OffHeapBuffer trimmed = memory(current.position());
    trimmed.buffer().put(0, current, 0, current.position());
    chunks.set(chunks.size() - 1, trimmed).close();
    current = trimmed.buffer().position(trimmed.buffer().limit());
  }

  @Override
  void write(ByteBuffer records) {
    int end = records.limit();
    while (records.hasRemaining()) {
      if (!current.hasRemaining() && !grow(1)) {
        newChunk(schema().fixedBytes() << rowShift, 1);
      }
      int length = Math.min(records.remaining(), current.remaining());
      current.put(records.limit(records.position() + length));
      records.limit(end);
    }
  }

  @Override
  Segment finish(long rowCount, long byteCount) {
    trimLast();
    SegmentHeader description =
        new SegmentHeader(
            Nonce.random(),
            BootId.ofThisHost(),
            HEADER_BYTES,
            rowCount,
            byteCount,
            rowShift,
            schema());
    Segment.RaggedOffsets offsets = null;
    if (!schema().isFixed()) {
      putOffset(byteCount);
      chunkStart.add(byteCount);
      offsets =
          new Segment.RaggedOffsets(
              buffers(entries),
              ENTRY_SHIFT,
              chunkStart.stream().mapToLong(Long::longValue).toArray());
    }
    // Last, so that a failure frees the others.
    OffHeapBuffer header = memory(HEADER_BYTES);
    Deque<OffHeapBuffer> all = new ArrayDeque<>(chunks);
    all.addAll(entries);
    all.add(header);
    return new Segment(
        description, header.buffer(), buffers(chunks), offsets, new Memory(location(), all));
  }

  private static ByteBuffer[] buffers(List<OffHeapBuffer> memory) {
    return memory.stream().map(m -> m.buffer().clear()).toArray(ByteBuffer[]::new);
  }

  @Override
  void discard() {
    chunks.forEach(OffHeapBuffer::close);
    entries.forEach(OffHeapBuffer::close);
  }

  @Override
  String location() {
    return "direct memory of process %d (%s)".formatted(ProcessHandle.current().pid(), name);
  }

  private record Memory(String location, Deque<OffHeapBuffer> buffers) implements SegmentMemory {
    @Override
    public String path() {
      return null;
    }

    @Override
    public boolean isOwned() {
      return true;
    }

    @Override
    public boolean isPaged() {
      return false;
    }

    @Override
    public void unlink() {
      // Direct memory has no name.
    }

    @Override
    public void close() {
      buffers.forEach(OffHeapBuffer::close);
    }
  }
}

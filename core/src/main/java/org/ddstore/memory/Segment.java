package org.ddstore.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.ddstore.types.Schema;

/**
 * The sealed memory of a shard: packed records in chunks of at most 1 GiB, each of whole records.
 * Counted references share it between the stores of a JVM; the last {@link #release()} frees it.
 *
 * <p>A fixed record's place is arithmetic. A ragged one's is its entry in the offsets: the records
 * lie back to back, and a record ends where the next begins.
 */
public final class Segment {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final Object ATTACHING = new Object();

  private final Nonce nonce;
  private final Schema schema;
  private final long rows;
  private final long dataBytes;
  private final ByteBuffer header;
  private final ByteBuffer[] chunks;
  private final long[] chunkAddress;
  private final int rowShift;
  private final int recordBytes;
  private final RaggedOffsets offsets;
  private final SegmentMemory memory;
  private final AtomicInteger references = new AtomicInteger(1);

  Segment(SegmentHeader description, ByteBuffer header, ByteBuffer[] chunks, SegmentMemory memory) {
    this(description, header, chunks, null, memory);
  }

  Segment(
      SegmentHeader description,
      ByteBuffer header,
      ByteBuffer[] chunks,
      RaggedOffsets offsets,
      SegmentMemory memory) {
    this.nonce = description.nonce();
    this.schema = description.schema();
    this.rows = description.rows();
    this.dataBytes = description.dataBytes();
    this.rowShift = description.rowShift();
    this.recordBytes = schema.isFixed() ? schema.fixedBytes() : 0;
    this.header = header;
    this.chunks = chunks;
    this.chunkAddress = Arrays.stream(chunks).mapToLong(RawAddress::of).toArray();
    this.offsets = offsets;
    this.memory = memory;
  }

  public Nonce nonce() {
    return nonce;
  }

  public Schema schema() {
    return schema;
  }

  public long rows() {
    return rows;
  }

  /** Bytes of the packed records, without header and offsets. */
  public long dataBytes() {
    return dataBytes;
  }

  /** Bytes of the offsets of ragged records: 8 a row; 0 for fixed ones. */
  public long offsetBytes() {
    return offsets == null ? 0 : Long.BYTES * (rows + 1);
  }

  /** How many chunks there are. */
  public int chunks() {
    return chunks.length;
  }

  /** Chunk {@code index}, little-endian; read by absolute position only. */
  public ByteBuffer chunk(int index) {
    return chunks[index];
  }

  /**
   * Where chunk {@code index} begins in the memory of this process, for native code; valid as long
   * as a reference is held. It has {@code chunk(index).capacity()} bytes.
   */
  public long chunkAddress(int index) {
    return chunkAddress[index];
  }

  /** log2 of the rows of a chunk, of which the last may have less; fixed records only. */
  public int rowShift() {
    return rowShift;
  }

  /** Where the parts lie, for transports that read them without asking the owner. */
  public SegmentMap map() {
    ByteBuffer version =
        header.slice(SegmentHeader.VERSION_POSITION, Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return offsets == null
        ? new SegmentMap(version, List.of(chunks), rowShift, List.of(), List.of(), 0)
        : offsets.map(version, List.of(chunks));
  }

  /** Where the memory is: a path, or what kind of memory. */
  public String location() {
    return memory.location();
  }

  /**
   * The segment with this nonce: the one that this JVM owns or has mapped already, else the file at
   * {@code path}, mapped read-only. The caller gets one reference.
   *
   * @param host of the owner; a file of another host is not opened, because it may lie on a file
   *     system that both hosts mount
   * @param path may be null: then only what this JVM has is found
   * @throws IOException if it cannot be had; the message says why
   */
  public static Segment attach(Nonce nonce, BootId host, String path) throws IOException {
    synchronized (ATTACHING) { // the ranks of a JVM share one mapping
      Segment known = SegmentRegistry.find(nonce);
      if (known != null) {
        return known;
      }
      if (path == null) {
        throw new IOException("it is direct memory of another process");
      }
      if (!host.isThisHost()) {
        throw new IOException(
            "it lies on another host (boot id %s, this host has %s)"
                .formatted(host, BootId.ofThisHost()));
      }
      Segment mapped = SegmentFiles.attach(Path.of(path), nonce);
      SegmentRegistry.publish(mapped);
      return mapped;
    }
  }

  /** True if this process made the segment, false if it maps another one's. */
  public boolean isOwned() {
    return memory.isOwned();
  }

  /** True if its pages may have to be read from a disk, so that a copy of a row may wait for it. */
  public boolean isPaged() {
    return memory.isPaged();
  }

  /** False only if the process that made the segment has certainly ended. Does not block. */
  public boolean ownerLives() {
    return isOwned()
        || path() == null
        || ProcessDirectory.isAlive(ProcessDirectory.lockFileBeside(Path.of(path())));
  }

  /** The file that other processes of this host may map, or null. */
  public String path() {
    return memory.path();
  }

  /**
   * The place of a record: chunk number in the upper 32 bits, position in the chunk in the lower.
   *
   * @param row of [0, rows), not checked here
   */
  public long place(long row) {
    if (offsets != null) {
      return offsets.place(row);
    }
    long chunk = row >>> rowShift;
    long position = (row - (chunk << rowShift)) * recordBytes;
    return chunk << 32 | position;
  }

  /**
   * The address of a record, for native code; valid as long as a reference is held. The record's
   * {@link #recordBytes(long)} lie in the segment.
   *
   * @throws IndexOutOfBoundsException if the row, or where its offsets say that it lies, is outside
   */
  public long address(long row) {
    Objects.checkIndex(row, rows);
    if (offsets == null) {
      long chunk = row >>> rowShift;
      return chunkAddress[(int) chunk] + (row - (chunk << rowShift)) * recordBytes;
    }
    long place = offsets.place(row);
    int chunk = chunkOf(place);
    int position =
        Objects.checkFromIndexSize(
            positionOf(place), offsets.recordBytes(row), chunks[chunk].capacity());
    return chunkAddress[chunk] + position;
  }

  /** The bytes of a record. */
  public int recordBytes(long row) {
    return offsets == null ? recordBytes : offsets.recordBytes(row);
  }

  /** The chunk of a {@link #place(long)}. */
  public static int chunkOf(long place) {
    return (int) (place >>> 32);
  }

  /** The position of a {@link #place(long)} in its chunk. */
  public static int positionOf(long place) {
    return (int) place;
  }

  /**
   * The version word: even when the rows are stable, odd while they are being changed. A reader
   * takes it before it copies and compares it after {@link #validate(long)}: a sequence lock.
   */
  public long version() {
    return (long) LONG.getAcquire(header, SegmentHeader.VERSION_POSITION);
  }

  /** True if no row can have changed since {@link #version()} returned {@code version}. */
  public boolean validate(long version) {
    VarHandle.acquireFence();
    return (version & 1) == 0
        && version == (long) LONG.getOpaque(header, SegmentHeader.VERSION_POSITION);
  }

  /** Marks the rows as being changed. By the owner, which has one writer at a time. */
  public void beginChange() {
    LONG.setOpaque(header, SegmentHeader.VERSION_POSITION, version() + 1);
    VarHandle.fullFence();
  }

  /** Marks the rows as stable again, in a new version. */
  public void endChange() {
    LONG.setRelease(header, SegmentHeader.VERSION_POSITION, version() + 1);
  }

  /**
   * Overwrites rows of a segment of fixed records that this process owns, between {@link
   * #beginChange()} and {@link #endChange()}.
   *
   * @param records packed records from position 0 to the limit
   */
  public void overwrite(long firstRow, ByteBuffer records) {
    int count = records.limit() / recordBytes;
    for (int i = 0; i < count; i++) {
      long place = place(firstRow + i);
      chunks[chunkOf(place)].put(positionOf(place), records, i * recordBytes, recordBytes);
    }
  }

  /**
   * Takes one more reference.
   *
   * @return false if the memory is already freed
   */
  public boolean retain() {
    int count;
    do {
      count = references.get();
      if (count == 0) {
        return false;
      }
    } while (!references.compareAndSet(count, count + 1));
    return true;
  }

  /** Gives one reference back; the last one frees the memory. */
  public void release() {
    if (references.decrementAndGet() == 0) {
      SegmentRegistry.forget(this);
      memory.close();
    }
  }

  /** Removes the file's name, so that nothing new can map it; those who have it keep it. */
  public void unlink() {
    memory.unlink();
  }

  @Override
  public String toString() {
    return "Segment[%,d rows, %,d bytes, %s]".formatted(rows, dataBytes, memory.location());
  }
}

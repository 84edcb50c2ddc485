// SPDX-License-Identifier: Apache-2.0
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
 * The stores of a JVM share it by reference counts; the last {@link #release()} frees it.
 *
 * <p>The place of a fixed record is computed from its row. The place of a ragged record is its
 * entry in the offsets: records are contiguous, and a record ends at the start of the next one.
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

  /** Returns the size of the packed records in bytes, without header and offsets. */
  public long dataBytes() {
    return dataBytes;
  }

  /** Returns the size of the offsets in bytes: 8 per row and 8 for the end; 0 for fixed records. */
  public long offsetBytes() {
    return offsets == null ? 0 : Long.BYTES * (rows + 1);
  }

  public int chunks() {
    return chunks.length;
  }

  /** Returns chunk {@code index}, little-endian, for reads by absolute position only. */
  public ByteBuffer chunk(int index) {
    return chunks[index];
  }

  /** Returns the address of a chunk for native code; valid as long as a reference is held. */
  public long chunkAddress(int index) {
    return chunkAddress[index];
  }

  /** Returns log2 of the rows per chunk; the last chunk may have fewer. Fixed records only. */
  public int rowShift() {
    return rowShift;
  }

  /** Returns the layout of the parts for transports that read them without the owner. */
  public SegmentMap map() {
    ByteBuffer version =
        header.slice(SegmentHeader.VERSION_POSITION, Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return offsets == null
        ? new SegmentMap(version, List.of(chunks), rowShift, List.of(), List.of(), 0)
        : offsets.map(version, List.of(chunks));
  }

  /** Returns the location of the memory: a path, or a description of direct memory. */
  public String location() {
    return memory.location();
  }

  /**
   * Returns the segment with this nonce: the one that this JVM owns or has mapped, else the file at
   * {@code path}, mapped read-only. The caller gets one reference.
   *
   * @param host host of the owner; a file of another host is not opened, because it may be on a
   *     file system that both hosts mount
   * @param path path of the file; null to search only this JVM
   * @throws IOException if the segment is unreachable; the message names the reason
   */
  public static Segment attach(Nonce nonce, BootId host, String path) throws IOException {
    synchronized (ATTACHING) { // the ranks of a JVM share one mapping
      Segment known = SegmentRegistry.find(nonce);
      if (known != null) {
        return known;
      }
      if (path == null) {
        throw new IOException("direct memory of another process");
      }
      if (!host.isThisHost()) {
        throw new IOException(
            "memory of another host (boot id %s, this host has %s)"
                .formatted(host, BootId.ofThisHost()));
      }
      Segment mapped = SegmentFiles.attach(Path.of(path), nonce);
      SegmentRegistry.publish(mapped);
      return mapped;
    }
  }

  /** Returns whether this process owns or has mapped a segment. */
  public static boolean isHere(Nonce nonce) {
    Segment known = SegmentRegistry.find(nonce);
    if (known != null) {
      known.release();
    }
    return known != null;
  }

  /** Returns true if this process created the segment; false if another process did. */
  public boolean isOwned() {
    return memory.isOwned();
  }

  /** Returns whether pages may have to be read from a disk, so that a copy of a row may block. */
  public boolean isPaged() {
    return memory.isPaged();
  }

  /** Returns false only if the owner's process has certainly ended. Does not block. */
  public boolean ownerLives() {
    return isOwned()
        || path() == null
        || ProcessDirectory.isAlive(ProcessDirectory.lockFileBeside(Path.of(path())));
  }

  /** Returns the file that other processes of this host may map, or null. */
  public String path() {
    return memory.path();
  }

  /** Returns the place of an unchecked row: chunk in the upper 32 bits, position below. */
  public long place(long row) {
    if (offsets != null) {
      return offsets.place(row);
    }
    long chunk = row >>> rowShift;
    long position = (row - (chunk << rowShift)) * recordBytes;
    return chunk << 32 | position;
  }

  /**
   * Returns the address of a record for native code; valid as long as a reference is held. All
   * {@link #recordBytes(long)} of the record lie in the segment.
   *
   * @throws IndexOutOfBoundsException if the row is out of range, or its offsets point outside of
   *     the chunk
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

  /** Returns the size of a record in bytes. */
  public int recordBytes(long row) {
    return offsets == null ? recordBytes : offsets.recordBytes(row);
  }

  /** Returns the chunk number of a {@link #place(long)}. */
  public static int chunkOf(long place) {
    return (int) (place >>> 32);
  }

  /** Returns the position of a {@link #place(long)} in its chunk. */
  public static int positionOf(long place) {
    return (int) place;
  }

  /**
   * Returns the version word of a sequence lock: even while the rows are stable, odd while they are
   * being changed. A reader loads it before a copy and calls {@link #validate(long)} after it.
   */
  public long version() {
    return (long) LONG.getAcquire(header, SegmentHeader.VERSION_POSITION);
  }

  /** Returns whether no row can have changed since {@link #version()} returned {@code version}. */
  public boolean validate(long version) {
    VarHandle.acquireFence();
    return (version & 1) == 0
        && version == (long) LONG.getOpaque(header, SegmentHeader.VERSION_POSITION);
  }

  /**
   * Marks the rows as being changed. Called by the owner, with one writer at a time.
   *
   * @throws IllegalStateException after {@link #markGone}: the version has to stay odd
   */
  public synchronized void beginChange() {
    if (isGone()) {
      throw new IllegalStateException("rows of a dropped store cannot change: " + this);
    }
    LONG.setOpaque(header, SegmentHeader.VERSION_POSITION, version() + 1);
    VarHandle.fullFence();
  }

  /** Marks the rows as stable again, in a new version; no effect after {@link #markGone}. */
  public synchronized void endChange() {
    if (!isGone()) {
      LONG.setRelease(header, SegmentHeader.VERSION_POSITION, version() + 1);
    }
  }

  /**
   * Tells all readers, also those of other processes, that the rows are freed: their next copy is
   * not valid, because the version is odd from now on. Called by the owner, also during a change.
   */
  public synchronized void markGone() {
    LONG.setVolatile(header, SegmentHeader.GONE_POSITION, 1L);
    LONG.setVolatile(header, SegmentHeader.VERSION_POSITION, version() | 1);
  }

  /**
   * Writes into the header which rows these are, for programs that find the file. Called by the
   * owner.
   *
   * @param store id of the store
   * @param rank rank that the rows belong to
   * @param firstRow global index of the first row
   */
  public void identify(Nonce store, int rank, long firstRow) {
    header.putLong(SegmentHeader.FIRST_ROW_POSITION, firstRow);
    header.putInt(SegmentHeader.RANK_POSITION, rank);
    store.write(header, SegmentHeader.STORE_POSITION);
  }

  /** Returns whether the owner has freed the rows. */
  public boolean isGone() {
    return (long) LONG.getAcquire(header, SegmentHeader.GONE_POSITION) != 0;
  }

  /** Overwrites fixed records of an own segment by packed ones, between begin and end of change. */
  public void overwrite(long firstRow, ByteBuffer records) {
    int count = records.limit() / recordBytes;
    for (int i = 0; i < count; i++) {
      long place = place(firstRow + i);
      chunks[chunkOf(place)].put(positionOf(place), records, i * recordBytes, recordBytes);
    }
  }

  /**
   * Adds one reference.
   *
   * @return false if the memory has been freed
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

  /** Releases one reference; the last release frees the memory. */
  public void release() {
    if (references.decrementAndGet() == 0) {
      SegmentRegistry.forget(this);
      memory.close();
    }
  }

  /** Deletes the file name, so that new mappings fail; existing mappings stay valid. */
  public void unlink() {
    memory.unlink();
  }

  @Override
  public String toString() {
    return "Segment[%,d rows, %,d bytes, %s]".formatted(rows, dataBytes, memory.location());
  }

  /**
   * The offsets of ragged records: one 64-bit offset per row into the stream of all records, one
   * more for the end of the stream, and the offset of each chunk.
   */
  static final class RaggedOffsets {
    private final ByteBuffer[] entries;
    private final int entryShift;
    private final long entryMask;
    private final long[] chunkStart;

    /**
     * @param entries buffers of 2^entryShift offsets each; the last one may be shorter
     * @param entryShift log2 of the number of offsets per buffer
     * @param chunkStart stream offset of each chunk, followed by that of the end
     */
    RaggedOffsets(ByteBuffer[] entries, int entryShift, long... chunkStart) {
      this.entries = entries;
      this.entryShift = entryShift;
      this.entryMask = (1L << entryShift) - 1;
      this.chunkStart = chunkStart;
    }

    long[] chunkStarts() {
      return chunkStart;
    }

    SegmentMap map(ByteBuffer version, List<ByteBuffer> chunks) {
      return new SegmentMap(
          version,
          chunks,
          0,
          Arrays.stream(chunkStart).boxed().toList(),
          List.of(entries),
          entryShift);
    }

    private long offset(long row) {
      return entries[(int) (row >>> entryShift)].getLong((int) (row & entryMask) * Long.BYTES);
    }

    long place(long row) {
      long offset = offset(row);
      int chunk = SegmentMap.chunkOf(chunkStart, offset);
      return (long) chunk << 32 | offset - chunkStart[chunk];
    }

    int recordBytes(long row) {
      return (int) (offset(row + 1) - offset(row));
    }
  }
}

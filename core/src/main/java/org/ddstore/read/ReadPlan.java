// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ReadPath;

/**
 * The places of the rows of one batch or one window: addresses for a gather kernel, else buffers
 * and positions. Its arrays are reused for all batches; nothing is allocated per row. Used by one
 * thread.
 *
 * <p>The plan records the versions of the touched segments before the copy, and {@link #isStable()}
 * compares them after it. A batch that overlapped a change is read again, so that no row is torn.
 */
public final class ReadPlan {
  /** Limit for a fetch of any size. */
  public static final long UNLIMITED_BYTES = StagingBudget.UNLIMITED;

  private static final int PATHS = ReadPath.values().length;

  /** Fewest rows for which a kernel that resolves the indices with a table is faster. */
  private static final int KERNEL_LOCATES_ROWS = 128;

  private final GatherKernel kernel;
  private int rows;
  private int capacity;
  private ByteBuffer[] source = {};
  private int[] position = {};
  private long[] address = {};
  private int[] recordBytes = {};
  private final int[] rowsByPath = new int[PATHS];

  private final GatherKernel.Rows kernelRows = new GatherKernel.Rows();

  private final TouchedExtents touched = new TouchedExtents();
  private final RemoteRows remote = new RemoteRows();
  private Placement placement;
  private ReadPlan part;

  /** Creates a plan for loops over buffers. */
  public ReadPlan() {
    this(null);
  }

  /**
   * @param kernel kernel that copies the rows; null for loops over buffers
   */
  public ReadPlan(GatherKernel kernel) {
    this.kernel = kernel;
  }

  /** Returns the kernel that copies the rows; null for loops over buffers. */
  GatherKernel kernel() {
    return kernel;
  }

  /** Returns the records for the kernel; only with a kernel and without ragged fields. */
  GatherKernel.Rows kernelRows() {
    return kernelRows;
  }

  /** Returns the address of each record; only with a kernel and ragged records. */
  long[] addresses() {
    return address;
  }

  /** Returns the size of each record in bytes; only for ragged records. */
  int[] recordBytes() {
    return recordBytes;
  }

  public int rows() {
    return rows;
  }

  /** Returns the memory that holds row {@code i}; only without a kernel. */
  public ByteBuffer source(int i) {
    return source[i];
  }

  /** Returns the position of the record of row {@code i} in its memory; only without a kernel. */
  public int position(int i) {
    return position[i];
  }

  /**
   * Returns the number of rows that are read over a path.
   *
   * @param path index of the path, {@link ReadPath#index()}
   */
  public int rowsBy(int path) {
    return rowsByPath[path];
  }

  /** Locates checked indices, which must not change; remote rows have no place before a fetch. */
  public void locate(Placement placement, long[] indices, int offset, int count) {
    begin(placement, count);
    if (kernel != null && count >= KERNEL_LOCATES_ROWS && placement.placeTable() != null) {
      leaveToKernel(indices, offset, count);
      return;
    }
    if (capacity < count) {
      reserve(Math.max(count, capacity + (capacity >> 1)));
    }
    kernelRows.setAddresses(address, count);
    ExtentMap extents = placement.extents();
    boolean ragged = placement.isRagged();
    for (int i = 0; i < count; i++) {
      long index = indices[offset + i];
      int extent = extents.extentOf(index);
      rowsByPath[placement.pathIndex(extent)]++;
      if (placement.peer(extent) >= 0) {
        remote.add(index, i);
        continue;
      }
      touched.touch(extent);
      Segment segment = placement.segment(extent);
      long row = index - extents.firstRow(extent);
      if (kernel == null) {
        long place = segment.place(row);
        source[i] = segment.chunk(Segment.chunkOf(place));
        position[i] = Segment.positionOf(place);
      } else {
        address[i] = segment.address(row);
      }
      if (ragged) {
        recordBytes[i] = segment.recordBytes(row);
      }
    }
  }

  /** Lets the kernel resolve the indices. Touches all extents, as those of the rows are unknown. */
  private void leaveToKernel(long[] indices, int offset, int count) {
    for (int extent = 0; extent < placement.extents().extents(); extent++) {
      touched.touch(extent);
    }
    kernelRows.setIndices(placement.placeTable(), indices, offset, count);
  }

  /** Updates the counts after the kernel has copied {@link #kernelRows()}. */
  void countCopied() {
    if (kernelRows.places() != null) {
      int[] rowsOfExtents = kernelRows.rowsOfExtents();
      touched.keepOnly(rowsOfExtents);
      Arrays.fill(rowsByPath, 0);
      for (int extent = 0; extent < placement.extents().extents(); extent++) {
        rowsByPath[placement.pathIndex(extent)] += rowsOfExtents[extent];
      }
    }
  }

  /** Fetches rows like {@link #fetch(RemoteReader, long)}, without a limit. */
  public void fetch(RemoteReader reader) {
    fetch(reader, UNLIMITED_BYTES);
  }

  /** Fetches the remote rows. Blocks. Throws {@link BatchTooLargeException} above the limit. */
  public void fetch(RemoteReader reader, long stagingBytes) {
    remote.fetch(this::place, reader, stagingBytes);
  }

  /** Returns the number of rows to fetch after a fetch exceeded its limit: fewer than all. */
  public int rowsWithin(long stagingBytes) {
    return Math.max(1, Math.min(rows - 1, remote.rowsWithin(rows, stagingBytes)));
  }

  public RemoteRows remote() {
    return remote;
  }

  public void free() {
    remote.free();
  }

  /** Sets the place of a received row: {@code bytes} at {@code start} of the staging memory. */
  void place(int i, GrowingBuffer staging, int start, int bytes) {
    if (kernel == null) {
      source[i] = staging.buffer();
      position[i] = start;
    } else {
      address[i] = staging.address() + start;
    }
    if (placement.isRagged()) {
      recordBytes[i] = bytes;
    }
  }

  /** Rejects ragged records shorter than their fixed fields and lengths, as a network may send. */
  public void checkRecords(int prefixBytes) {
    for (int i = 0; i < rows; i++) {
      if (recordBytes[i] < prefixBytes) {
        throw damaged(i);
      }
    }
  }

  /** Returns the exception for a record whose lengths contradict its size. */
  public DDStoreException damaged(int row) {
    return new DDStoreException(
        "the record of row number %,d of the batch has %,d bytes, which its lengths contradict: its memory was overwritten"
            .formatted(row, recordBytes[row]));
  }

  public int recordBytes(int i) {
    return recordBytes[i];
  }

  public static int maxRows(Placement placement) {
    return placement.hasRemote() ? RemoteRows.windowRows(placement.rows()) : Integer.MAX_VALUE;
  }

  private void begin(Placement placement, int count) {
    this.placement = placement;
    rows = count;
    touched.begin(placement);
    remote.begin(placement, count);
    Arrays.fill(rowsByPath, 0);
  }

  private void reserve(int capacity) {
    this.capacity = capacity;
    if (kernel == null) {
      source = new ByteBuffer[capacity];
      position = new int[capacity];
    } else {
      address = new long[capacity];
    }
    recordBytes = new int[placement.isRagged() ? capacity : 0];
  }

  /**
   * Returns a part of this plan with consecutive rows, to be copied separately; it is stable as
   * long as this plan is. Valid until the next call. Not for indices that a kernel resolves, whose
   * rows are copied in one call.
   */
  public ReadPlan part(int from, int count) {
    if (from == 0 && count == rows) {
      return this;
    }
    if (!hasParts()) {
      throw new IllegalStateException(
          "a plan whose rows the kernel locates has no parts: copy all rows in one call");
    }
    if (part == null) {
      part = new ReadPlan(kernel);
    }
    part.copyOf(this, from, count);
    return part;
  }

  /** Returns whether {@link #part} may be called for fewer than all rows. */
  public boolean hasParts() {
    return kernelRows.places() == null;
  }

  private void copyOf(ReadPlan whole, int from, int count) {
    placement = whole.placement;
    rows = count;
    if (capacity < count) {
      reserve(count);
    }
    if (kernel == null) {
      System.arraycopy(whole.source, from, source, 0, count);
      System.arraycopy(whole.position, from, position, 0, count);
    } else {
      System.arraycopy(whole.address, from, address, 0, count);
    }
    if (placement.isRagged()) {
      System.arraycopy(whole.recordBytes, from, recordBytes, 0, count);
    }
    kernelRows.setAddresses(address, count);
  }

  /** Returns whether no row of the plan can have changed since it was located. */
  public boolean isStable() {
    return touched.isStable();
  }

  /** Returns the rank that is changing its rows, for messages; -1 for none. */
  public int changingRank() {
    return touched.changingRank();
  }

  /** The extents that a batch reads from local memory, with their versions before the copy. */
  private static final class TouchedExtents {
    private static final int NONE = -1;

    private Placement placement;
    private int count;
    private int[] touched = new int[4];
    private long[] version = new long[4];
    private long[] lastPlan = new long[0];
    private long plan;

    void begin(Placement placement) {
      this.placement = placement;
      plan++;
      count = 0;
      if (lastPlan.length < placement.extents().extents()) {
        lastPlan = new long[placement.extents().extents()];
      }
    }

    /** Records the version of an extent's segment, once per batch. */
    void touch(int extent) {
      if (lastPlan[extent] != plan) {
        lastPlan[extent] = plan;
        if (count == touched.length) {
          touched = Arrays.copyOf(touched, 2 * count);
          version = Arrays.copyOf(version, 2 * count);
        }
        touched[count] = extent;
        version[count] = placement.segment(extent).version();
        count++;
      }
    }

    void keepOnly(int[] rowsOfExtents) {
      int kept = 0;
      for (int i = 0; i < count; i++) {
        if (rowsOfExtents[touched[i]] > 0) {
          touched[kept] = touched[i];
          version[kept++] = version[i];
        }
      }
      count = kept;
    }

    /** Returns whether no row of these extents can have changed since they were touched. */
    boolean isStable() {
      return firstChanged() == NONE;
    }

    /** Returns the rank that is changing its rows, for messages; -1 for none. */
    int changingRank() {
      int extent = firstChanged();
      return extent == NONE ? -1 : placement.extents().rank(extent);
    }

    private int firstChanged() {
      for (int i = 0; i < count; i++) {
        if (!placement.segment(touched[i]).validate(version[i])) {
          return touched[i];
        }
      }
      return NONE;
    }
  }
}

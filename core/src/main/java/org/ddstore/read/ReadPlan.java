package org.ddstore.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.transport.StagingBudget;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;

/**
 * Where each row of one batch, or of a window of it, lies: for a gather kernel as addresses, else
 * as buffers and positions. Its arrays are reused from batch to batch; nothing is allocated per
 * row. Used by one thread.
 *
 * <p>The versions of the segments touched are taken before the copy and compared by {@link
 * #isStable()} after it: a batch that met a change is read again, so that no row is torn.
 */
public final class ReadPlan {
  /** For a fetch of any size. */
  public static final long UNLIMITED_BYTES = StagingBudget.UNLIMITED;

  private static final int PATHS = ReadPath.values().length;

  /** From so many rows on, a kernel that finds them itself is faster, though it reads a table. */
  private static final int KERNEL_LOCATES_ROWS = 128;

  private final GatherKernel kernel;
  private int rows;
  private int capacity;
  private ByteBuffer[] source = {};
  private int[] position = {};
  private long[] address = {};
  private int[] recordBytes = {};
  private final int[] rowsByPath = new int[PATHS];

  private final KernelRows kernelRows = new KernelRows();

  private final TouchedExtents touched = new TouchedExtents();
  private final RemoteRows remote = new RemoteRows();
  private volatile RunningFetch running;
  private Placement placement;
  private ReadPlan part;

  /** A plan for loops over buffers. */
  public ReadPlan() {
    this(null);
  }

  /**
   * @param kernel that copies the rows; null for loops over buffers
   */
  public ReadPlan(GatherKernel kernel) {
    this.kernel = kernel;
  }

  /** What copies the rows; null if loops over buffers do. */
  GatherKernel kernel() {
    return kernel;
  }

  /** What the kernel copies when there are no ragged fields; only with a kernel. */
  KernelRows kernelRows() {
    return kernelRows;
  }

  /** The address of the record of each row; only with a kernel, and if they are ragged. */
  long[] addresses() {
    return address;
  }

  /** The bytes of the record of each row; only if they are ragged. */
  int[] recordBytes() {
    return recordBytes;
  }

  /** Rows of the batch. */
  public int rows() {
    return rows;
  }

  /** The memory that holds row {@code i} of the batch; only without a kernel. */
  public ByteBuffer source(int i) {
    return source[i];
  }

  /** Where the record of row {@code i} of the batch begins in its memory; only without a kernel. */
  public int position(int i) {
    return position[i];
  }

  /**
   * How many rows of the batch come over a path.
   *
   * @param path its {@link ReadPath#index()}
   */
  public int rowsBy(int path) {
    return rowsByPath[path];
  }

  /**
   * Locates {@code count} of the indices, which {@link Placement#copyChecked} has checked and which
   * nobody changes before the rows are copied. Rows that memory does not reach have no place before
   * {@link #fetch}.
   *
   * @param offset of the first index to locate
   */
  public void locate(Placement where, long[] indices, int offset, int count) {
    begin(where, count);
    if (kernel != null && count >= KERNEL_LOCATES_ROWS && where.placeTable() != null) {
      leaveToKernel(indices, offset, count);
      return;
    }
    if (capacity < count) {
      reserve(Math.max(count, capacity + (capacity >> 1)));
    }
    kernelRows.setAddresses(address, count);
    ExtentMap extents = where.extents();
    boolean ragged = where.isRagged();
    for (int i = 0; i < count; i++) {
      long index = indices[offset + i];
      int extent = extents.extentOf(index);
      rowsByPath[where.pathIndex(extent)]++;
      if (where.peer(extent) >= 0) {
        remote.add(where, extent, i, index);
        continue;
      }
      touched.touch(extent);
      Segment segment = where.segment(extent);
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

  /** Which extents the rows lie in is not known yet: all have to be as they are now. */
  private void leaveToKernel(long[] indices, int offset, int count) {
    for (int extent = 0; extent < placement.extents().extents(); extent++) {
      touched.touch(extent);
    }
    kernelRows.setIndices(placement.placeTable(), indices, offset, count);
  }

  /** To be called when the kernel has copied {@link #kernelRows()}. */
  void wasCopied() {
    if (kernelRows.places() != null) {
      int[] rowsOfExtents = kernelRows.rowsOfExtents();
      touched.keepOnly(rowsOfExtents);
      Arrays.fill(rowsByPath, 0);
      for (int extent = 0; extent < placement.extents().extents(); extent++) {
        rowsByPath[placement.pathIndex(extent)] += rowsOfExtents[extent];
      }
    }
  }

  /**
   * Brings the rows that memory does not reach. Blocks.
   *
   * @param reader may be null if no row is remote
   */
  public void fetch(RemoteReader reader) {
    fetch(reader, UNLIMITED_BYTES);
  }

  /**
   * As {@link #fetch(RemoteReader)}, if the ragged records take no more than so many bytes in all.
   *
   * @throws BatchTooLargeException if they take more: {@link #rowsWithin} tells then how many rows
   *     fit
   */
  public void fetch(RemoteReader reader, long stagingBytes) {
    if (!remote.isEmpty()) {
      List<PeerRows> peers = remote.arrange(placement, stagingBytes);
      running = new RunningFetch(reader, peers);
      try {
        reader.fetch(peers);
      } finally {
        running = null;
      }
      remote.place(this);
    }
  }

  /**
   * Human-readable: what a {@link #fetch} that is under way waits for; empty if none is. Any
   * thread.
   */
  public String waitsFor() {
    RunningFetch fetch = running;
    return fetch == null ? "" : fetch.describe();
  }

  /**
   * How many rows, from the first on, to fetch at once after a {@link #fetch(RemoteReader, long)}
   * that met more bytes than this: at least one, fewer than all.
   */
  public int rowsWithin(long stagingBytes) {
    return Math.max(1, Math.min(rows - 1, remote.rowsWithin(rows, stagingBytes)));
  }

  /** The processes that {@link #fetch} found to serve nothing any more. */
  public Set<ProcessAddress> goneProcesses() {
    return remote.goneProcesses();
  }

  /** The processes of which {@link #fetch} has waited in vain; they may be alive. */
  public Set<ProcessAddress> silentProcesses() {
    return remote.silentProcesses();
  }

  /** Tells where a remote row has come to: {@code bytes} from {@code start} of the staging on. */
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

  /**
   * Checks that ragged records have at least their fixed fields and lengths: what comes over a
   * network says itself how long it is.
   *
   * @param prefixBytes of a record
   * @throws DDStoreException if one is shorter
   */
  public void checkRecords(int prefixBytes) {
    for (int i = 0; i < rows; i++) {
      if (recordBytes[i] < prefixBytes) {
        throw damaged(i);
      }
    }
  }

  /** What is to be thrown if the lengths in the record of a row contradict its size. */
  public DDStoreException damaged(int row) {
    return new DDStoreException(
        "the record of row number %,d of the batch has %,d bytes, which its lengths contradict: its memory was overwritten"
            .formatted(row, recordBytes[row]));
  }

  /** The bytes of the ragged record of a row of the batch. */
  public int recordBytes(int i) {
    return recordBytes[i];
  }

  /** Frees the memory that remote rows came to. */
  public void free() {
    remote.free();
  }

  /** The memory that remote rows came to, in bytes. */
  public long stagingBytes() {
    return remote.stagingBytes();
  }

  /** The bytes of all remote records that have come so far, whole ones. */
  public long fetchedBytes() {
    return remote.placedBytes();
  }

  /**
   * The memory, in bytes, that remote rows take at most that come to one plan after the other.
   *
   * @param rowsAtOnce of each plan at most, all of them remote
   * @param recordBytes of each row
   */
  public static long mostStagingBytes(Placement where, long rowsAtOnce, long recordBytes) {
    return RemoteRows.mostStagingBytes(where, rowsAtOnce, recordBytes);
  }

  /** How many rows one plan may have at most. */
  public static int maxRows(Placement where) {
    return where.hasRemote() ? RemoteRows.windowRows(where.rows()) : Integer.MAX_VALUE;
  }

  private void begin(Placement where, int count) {
    placement = where;
    rows = count;
    touched.begin(where);
    remote.begin(where, count);
    Arrays.fill(rowsByPath, 0);
  }

  private void reserve(int newCapacity) {
    capacity = newCapacity;
    if (kernel == null) {
      source = new ByteBuffer[capacity];
      position = new int[capacity];
    } else {
      address = new long[capacity];
    }
    recordBytes = new int[placement.isRagged() ? capacity : 0];
  }

  /**
   * Some consecutive rows of this plan, to be copied by themselves; they are stable as long as this
   * plan is. Valid until the next call. Not for rows that are left to a kernel to find: those are
   * copied all at once.
   */
  public ReadPlan part(int from, int count) {
    if (from == 0 && count == rows) {
      return this;
    }
    if (!hasParts()) {
      throw new IllegalStateException("the places of these rows are not known");
    }
    if (part == null) {
      part = new ReadPlan(kernel);
    }
    part.copyOf(this, from, count);
    return part;
  }

  /** Whether {@link #part} may be called for less than all. */
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

  /** True if no row of the plan can have changed since it was located. */
  public boolean isStable() {
    return touched.isStable();
  }

  /** The rank whose rows are being changed, for a message; -1 if none is. */
  public int changingRank() {
    return touched.changingRank();
  }
}

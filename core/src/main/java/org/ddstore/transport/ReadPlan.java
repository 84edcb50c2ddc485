package org.ddstore.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.ReadPath;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.Segment;

/**
 * Where each row of one batch, or of a window of it, lies. Its arrays are reused from batch to
 * batch; nothing is allocated per row. Used by one thread.
 *
 * <p>The versions of the segments touched are taken before the copy and compared by {@link
 * #isStable()} after it: a batch that met a change is read again, so that no row is torn.
 */
public final class ReadPlan {
  private int rows;
  private ByteBuffer[] source = new ByteBuffer[0];
  private int[] position = new int[0];
  private byte[] path = new byte[0];

  private int touchedExtents;
  private int[] touched = new int[4];
  private long[] version = new long[4];
  private long[] lastPlan = new long[0];
  private long plan;
  private final RemoteRows remote = new RemoteRows();
  private Placement placement;

  /** Rows of the batch. */
  public int rows() {
    return rows;
  }

  /** The memory that holds row {@code i} of the batch. */
  public ByteBuffer source(int i) {
    return source[i];
  }

  /** Where the record of row {@code i} of the batch begins in its memory. */
  public int position(int i) {
    return position[i];
  }

  /** The {@link ReadPath#index()} of row {@code i} of the batch. */
  public int path(int i) {
    return path[i];
  }

  /**
   * Locates {@code count} of the indices, which {@link Placement#checkAll} has checked. Rows that
   * memory does not reach have no place before {@link #fetch}.
   *
   * @param offset of the first index to locate
   */
  public void locate(Placement where, long[] indices, int offset, int count) {
    begin(where, count);
    ExtentMap extents = where.extents();
    for (int i = 0; i < count; i++) {
      long index = indices[offset + i];
      int extent = extents.extentOf(index);
      path[i] = (byte) where.path(extent).index();
      if (where.peer(extent) >= 0) {
        remote.add(where, extent, i, index);
        continue;
      }
      if (lastPlan[extent] != plan) {
        touch(extent);
      }
      Segment segment = where.segment(extent);
      long place = segment.place(index - extents.firstRow(extent));
      source[i] = segment.chunk(Segment.chunkOf(place));
      position[i] = Segment.positionOf(place);
    }
  }

  /**
   * Brings the rows that memory does not reach. Blocks.
   *
   * @param reader may be null if no row is remote
   */
  public void fetch(RemoteReader reader) {
    if (!remote.isEmpty()) {
      reader.fetch(remote.arrange(placement));
      remote.place(this);
    }
  }

  void place(int i, ByteBuffer memory, int start) {
    source[i] = memory;
    position[i] = start;
  }

  /** Frees the memory that remote rows came to. */
  public void free() {
    remote.free();
  }

  /** How many rows one plan may have at most. */
  public static int maxRows(Placement where) {
    return where.hasRemote() ? RemoteRows.windowRows(where.rows()) : Integer.MAX_VALUE;
  }

  private void begin(Placement where, int count) {
    placement = where;
    rows = count;
    plan++;
    touchedExtents = 0;
    remote.begin(count);
    if (source.length < count) {
      int capacity = Math.max(count, source.length + (source.length >> 1));
      source = new ByteBuffer[capacity];
      position = new int[capacity];
      path = new byte[capacity];
    }
    if (lastPlan.length < where.extents().extents()) {
      lastPlan = new long[where.extents().extents()];
    }
  }

  private void touch(int extent) {
    lastPlan[extent] = plan;
    if (touchedExtents == touched.length) {
      touched = Arrays.copyOf(touched, 2 * touchedExtents);
      version = Arrays.copyOf(version, 2 * touchedExtents);
    }
    touched[touchedExtents] = extent;
    version[touchedExtents] = placement.segment(extent).version();
    touchedExtents++;
  }

  /** True if no row of the plan can have changed since it was located. */
  public boolean isStable() {
    for (int i = 0; i < touchedExtents; i++) {
      if (!placement.segment(touched[i]).validate(version[i])) {
        return false;
      }
    }
    return true;
  }

  /** The rank whose rows are being changed, for a message; -1 if none is. */
  public int changingRank() {
    for (int i = 0; i < touchedExtents; i++) {
      if (!placement.segment(touched[i]).validate(version[i])) {
        return placement.extents().rank(touched[i]);
      }
    }
    return -1;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.read.RemoteRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.RankLostException;
import org.ddstore.types.Schema;
import org.ddstore.types.StoreGoneException;

/**
 * The loop of every read: locates rows of a variable, fetches those that are remote, has them
 * copied, and repeats all of it until no row changed meanwhile. One thread at a time. Creates the
 * remote reader when the first row needs it.
 *
 * <p>The wait for rows in local memory that their rank is changing has the same deadline as a read
 * over a transport, {@link StoreOptions#readTimeout()}. It fails at once when the process of that
 * rank has ended, because the change cannot complete.
 */
final class RowLocator implements AutoCloseable {
  /** Limit in bytes for the remote rows of one reader, unless one row is larger. */
  static final int WINDOW_BYTES = 32 << 20;

  /** Limit in bytes for ragged records in a window, whose buffer is allocated with room to grow. */
  static final long RAGGED_WINDOW_BYTES = GrowingBuffer.bytesWithin(WINDOW_BYTES);

  /** Divisor of the read timeout: the limit for a silent process while other copies exist. */
  private static final int SILENCE_SHARE = 4;

  /** The limit for a silent process while other copies exist; longer than most pauses of a JVM. */
  private static final Duration MAX_SILENCE = Duration.ofMillis(1500);

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Variable variable;
  private final ReadPlan plan;
  private RemoteReader remoteReader;
  private boolean begun;
  private volatile boolean waits;
  private volatile int awaitedRank;
  private long sinceNanos;
  private long nextProbeNanos;

  /** A copy of the located rows of a plan, repeated if some of them changed during it. */
  @FunctionalInterface
  interface Copy {
    void copy(ReadPlan located);
  }

  /**
   * @param kernel kernel that copies the rows; null for loops over buffers
   */
  RowLocator(Variable variable, GatherKernel kernel) {
    this.variable = variable;
    this.plan = new ReadPlan(kernel);
  }

  ReadPlan plan() {
    return plan;
  }

  /** Begins a read: its remote rows share one deadline over all calls of {@link #locate}. */
  void begin() {
    begun = false;
    if (waits) {
      waits = false;
    }
  }

  /**
   * Reads {@code count} checked indices: locates and copies them until none of them changed during
   * the copy. Blocks while rows are remote or are being changed.
   *
   * @param offset position of the first index to read
   * @param stagingBytes limit in bytes for remote ragged records, as for {@link #locate}
   * @return number of rows copied; at least 1 if {@code count} is above 0
   */
  int read(
      Placement placement, long[] indices, int offset, int count, long stagingBytes, Copy copy) {
    return read(placement, indices, offset, count, stagingBytes, 0, copy);
  }

  /**
   * Reads the first {@code count} indices as {@link #read} does, but all of them or none.
   *
   * @return whether the remote ragged records fit in the staging memory
   */
  boolean readAll(Placement placement, long[] indices, int count, long stagingBytes, Copy copy) {
    return read(placement, indices, 0, count, stagingBytes, count, copy) == count;
  }

  /** Reads rows, unless fewer than {@code minRows} are located. */
  private int read(
      Placement placement,
      long[] indices,
      int offset,
      int count,
      long stagingBytes,
      int minRows,
      Copy copy) {
    int located;
    do {
      located = locate(placement, indices, offset, count, stagingBytes);
      if (located < minRows) {
        return located;
      }
      copy.copy(plan);
    } while (!plan.isStable() && pause(plan.changingRank()));
    return located;
  }

  /**
   * Locates the first rows whose remote ragged records fit in the staging memory, and at least one
   * row. Blocks if some rows are remote. If the process that serves rows has ended, or is silent
   * for a short time, and other copies exist, those are read with a new deadline.
   *
   * @param stagingBytes limit in bytes for remote ragged records, or {@link
   *     ReadPlan#UNLIMITED_BYTES}
   * @return number of rows located; at least 1 if {@code count} is above 0
   */
  int locate(Placement placement, long[] indices, int offset, int count, long stagingBytes) {
    Placement current = variable.current(placement);
    int silences = 0;
    while (true) {
      try {
        return locateIn(current, indices, offset, count, stagingBytes);
      } catch (DDStoreException e) {
        Set<ProcessAddress> silent = plan.remote().silentProcesses();
        silences += silent.isEmpty() ? 0 : 1;
        if (silences > variable.servingProcesses() // other readers have returned to a silent copy
            || !variable.failOver(current, plan.remote().goneProcesses(), silent)) {
          throw e;
        }
        current = variable.placement();
        begun = false;
      }
    }
  }

  private int locateIn(
      Placement placement, long[] indices, int offset, int count, long stagingBytes) {
    plan.locate(placement, indices, offset, count);
    if (!placement.hasRemote()) {
      return count;
    }
    if (remoteReader == null) {
      remoteReader = variable.newRemoteReader();
    }
    if (!begun) {
      begun = true;
      Duration share = variable.readTimeout().dividedBy(SILENCE_SHARE);
      remoteReader.begin(
          share.compareTo(MAX_SILENCE) < 0 ? share : MAX_SILENCE, variable::hasOtherCopies);
    }
    int fitting = count;
    while (true) {
      try {
        plan.fetch(remoteReader, fitting == 1 ? ReadPlan.UNLIMITED_BYTES : stagingBytes);
        return fitting;
      } catch (BatchTooLargeException e) {
        if (fitting == 1 || stagingBytes == ReadPlan.UNLIMITED_BYTES) {
          throw e;
        }
        fitting = plan.rowsWithin(stagingBytes);
        plan.locate(placement, indices, offset, fitting);
      }
    }
  }

  /** Pauses before changing rows are read again, and returns true; throws at the deadline. */
  boolean pause(int rank) {
    long now = System.nanoTime();
    if (!waits) {
      sinceNanos = now;
      awaitedRank = -1;
      waits = true;
      nextProbeNanos = now + PROBE_NANOS;
      checkNotGone();
    }
    if (rank >= 0) {
      awaitedRank = rank;
    }
    long elapsed = now - sinceNanos;
    if (Thread.currentThread().isInterrupted()) {
      throw new DDStoreException("interrupted while rows of \"" + variable.name() + "\" changed");
    }
    if (now - nextProbeNanos >= 0) {
      nextProbeNanos = now + PROBE_NANOS;
      variable.checkReadable();
      checkNotGone();
      checkChangingRankLives(rank);
    }
    Duration timeout = variable.readTimeout();
    if (elapsed > timeout.toNanos()) {
      throw new DeadlineExceededException(
          "rows of \"%s\" on rank %d have been changing for %s, the read timeout: its epochBegin() hangs or needs a longer read timeout"
              .formatted(variable.name(), rank, timeout));
    }
    if (elapsed < SPIN_NANOS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(this, PARK_NANOS);
    }
    return true;
  }

  /** Throws if an owner has freed rows that this process has mapped. */
  private void checkNotGone() {
    Placement current = variable.layout();
    for (int e = 0; e < current.extents().extents(); e++) {
      Segment segment = current.segment(e);
      if (segment != null && segment.isGone()) {
        throw new StoreGoneException(
            "\"%s\" is gone: rank %d has freed its rows, because the store was dropped"
                .formatted(variable.name(), current.extents().rank(e)));
      }
    }
  }

  /**
   * Throws if the process of a rank has ended while it changed rows in local memory.
   *
   * @param owner rank that changes rows; -1 for none
   */
  private void checkChangingRankLives(int owner) {
    Placement current = variable.layout();
    for (int e = 0; e < current.extents().extents(); e++) {
      Segment segment = current.segment(e);
      if (current.extents().rank(e) == owner && segment != null && !segment.ownerLives()) {
        throw new RankLostException(
            owner,
            "the process of rank %d has ended in epochBegin() while it changed its rows of \"%s\": the rows are inconsistent and unreadable; close the store and load the rows again"
                .formatted(owner, variable.name()));
      }
    }
  }

  /**
   * Returns a human-readable text that names the process or rank that the current read waits for,
   * and the waiting time; empty if it does not wait. Any thread may call this.
   */
  String waitsFor() {
    String remote = plan.remote().waitsFor();
    if (!remote.isEmpty() || !waits || awaitedRank < 0) {
      return remote;
    }
    return "for rank %d, which has been changing its rows for %,d ms"
        .formatted(awaitedRank, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos));
  }

  /**
   * Returns the largest number of rows to locate in one call.
   *
   * @param rowBytes approximate size of a packed record in bytes
   */
  static int windowRows(Placement placement, long rowBytes) {
    if (!placement.hasRemote()) {
      return Integer.MAX_VALUE;
    }
    int fitting = (int) Math.max(1, WINDOW_BYTES / Math.max(1, rowBytes));
    return Math.min(fitting, ReadPlan.maxRows(placement));
  }

  /**
   * Returns the largest staging memory in bytes that a number of rows takes if all are remote. For
   * ragged rows only the record prefix counts, so the value is a lower bound.
   */
  static long mostBytes(Placement placement, Schema schema, long rows) {
    if (!placement.hasRemote()) {
      return 0;
    }
    return schema.isFixed()
        ? RemoteRows.mostStagingBytes(
            placement,
            Math.min(rows, windowRows(placement, schema.fixedBytes())),
            schema.fixedBytes())
        : GrowingBuffer.capacityFor(rows * schema.prefixBytes());
  }

  long memoryBytes() {
    return plan.remote().stagingBytes() + (remoteReader == null ? 0 : remoteReader.memoryBytes());
  }

  @Override
  public void close() {
    if (remoteReader != null) {
      remoteReader.close();
    }
    plan.free();
  }
}

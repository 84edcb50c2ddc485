package org.ddstore;

import java.util.Set;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.read.GatherKernel;
import org.ddstore.read.Placement;
import org.ddstore.read.ReadPlan;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * Finds rows of a variable, and brings those that memory does not reach. Used by one thread at a
 * time; nothing is made for a transport before a row needs it.
 */
final class RowLocator implements AutoCloseable {
  /** The memory for remote rows of one reader, unless one row is larger. */
  static final int WINDOW_BYTES = 32 << 20;

  /** The bytes of ragged records that fit this memory, which is allocated with room to grow. */
  static final long RAGGED_WINDOW_BYTES = GrowingBuffer.bytesWithin(WINDOW_BYTES);

  private final Variable variable;
  private final ReadPlan plan;
  private RemoteReader remoteReader;
  private boolean begun;

  /**
   * @param kernel that is to copy the rows; null for loops over buffers
   */
  RowLocator(Variable variable, GatherKernel kernel) {
    this.variable = variable;
    this.plan = new ReadPlan(kernel);
  }

  /** Where the rows are that were located last. */
  ReadPlan plan() {
    return plan;
  }

  /** Begins a read: its remote rows have one deadline, over all calls of {@link #locate}. */
  void begin() {
    begun = false;
  }

  /**
   * Locates {@code count} checked indices. Blocks if some rows are remote. If the process that
   * serves some is gone, or silent for a share of the deadline, and there are copies of them, those
   * are taken; they have a deadline of their own.
   */
  void locate(Placement placement, long[] indices, int offset, int count) {
    locateWithin(placement, indices, offset, count, ReadPlan.UNLIMITED_BYTES);
  }

  /**
   * As {@link #locate} for the first of the rows whose remote ragged records take no more than so
   * many bytes in the staging, or for one that is larger.
   *
   * @return how many rows were located, at least one if there are any
   */
  int locateWithin(Placement placement, long[] indices, int offset, int count, long stagingBytes) {
    Placement where = variable.current(placement);
    int silences = 0;
    while (true) {
      try {
        return locateIn(where, indices, offset, count, stagingBytes);
      } catch (DDStoreException e) {
        Set<ProcessAddress> silent = plan.silentProcesses();
        silences += silent.isEmpty() ? 0 : 1;
        if (silences > variable.copies() // other readers have gone back to one that was silent
            || !variable.failOver(where, plan.goneProcesses(), silent)) {
          throw e;
        }
        where = variable.placement();
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
      remoteReader.begin(variable.silence(), variable::hasOtherCopies);
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

  /**
   * How many rows may be located at once.
   *
   * @param rowBytes of a packed record, about
   */
  static int windowRows(Placement placement, long rowBytes) {
    if (!placement.hasRemote()) {
      return Integer.MAX_VALUE;
    }
    int fitting = (int) Math.max(1, WINDOW_BYTES / Math.max(1, rowBytes));
    return Math.min(fitting, ReadPlan.maxRows(placement));
  }

  /**
   * The memory, in bytes, that remote rows take at most on their way: so many, all remote. Of
   * ragged rows what is known of each is counted, which is the least.
   */
  static long mostBytes(Placement placement, Schema schema, long rows) {
    if (!placement.hasRemote()) {
      return 0;
    }
    return schema.isFixed()
        ? ReadPlan.mostStagingBytes(
            placement,
            Math.min(rows, windowRows(placement, schema.fixedBytes())),
            schema.fixedBytes())
        : GrowingBuffer.capacityFor(rows * schema.prefixBytes());
  }

  /** The memory that it holds now for remote rows, in bytes. */
  long memoryBytes() {
    return plan.stagingBytes() + (remoteReader == null ? 0 : remoteReader.memoryBytes());
  }

  @Override
  public void close() {
    if (remoteReader != null) {
      remoteReader.close();
    }
    plan.free();
  }
}

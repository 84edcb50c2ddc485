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
 * A locator of the rows of a variable that also fetches remote rows, which are not in local memory
 * (owned or mapped). One thread at a time. Creates the remote reader when the first row needs it.
 */
final class RowLocator implements AutoCloseable {
  /** Limit in bytes for the remote rows of one reader, unless one row is larger. */
  static final int WINDOW_BYTES = 32 << 20;

  /** Limit in bytes for ragged records in a window, whose buffer is allocated with room to grow. */
  static final long RAGGED_WINDOW_BYTES = GrowingBuffer.bytesWithin(WINDOW_BYTES);

  private final Variable variable;
  private final ReadPlan plan;
  private RemoteReader remoteReader;
  private boolean begun;

  /**
   * @param kernel kernel that copies the rows; null for loops over buffers
   */
  RowLocator(Variable variable, GatherKernel kernel) {
    this.variable = variable;
    this.plan = new ReadPlan(kernel);
  }

  /** Returns the plan with the rows located last. */
  ReadPlan plan() {
    return plan;
  }

  /** Begins a read: its remote rows share one deadline over all calls of {@link #locate}. */
  void begin() {
    begun = false;
  }

  /**
   * Locates {@code count} checked indices. Blocks if some rows are remote. If the process that
   * serves rows has ended, or is silent for a part of the deadline, and other copies exist, those
   * are read with a new deadline.
   */
  void locate(Placement placement, long[] indices, int offset, int count) {
    locateWithin(placement, indices, offset, count, ReadPlan.UNLIMITED_BYTES);
  }

  /**
   * Locates rows like {@link #locate}, limited to the first rows whose remote ragged records fit in
   * the staging memory, and at least one row.
   *
   * @param stagingBytes limit in bytes for remote ragged records
   * @return number of rows located; at least 1 if {@code count} is above 0
   */
  int locateWithin(Placement placement, long[] indices, int offset, int count, long stagingBytes) {
    Placement current = variable.current(placement);
    int silences = 0;
    while (true) {
      try {
        return locateIn(current, indices, offset, count, stagingBytes);
      } catch (DDStoreException e) {
        Set<ProcessAddress> silent = plan.silentProcesses();
        silences += silent.isEmpty() ? 0 : 1;
        if (silences > variable.copies() // other readers have returned to a silent copy
            || !variable.failOver(current, plan.goneProcesses(), silent)) {
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
        ? ReadPlan.mostStagingBytes(
            placement,
            Math.min(rows, windowRows(placement, schema.fixedBytes())),
            schema.fixedBytes())
        : GrowingBuffer.capacityFor(rows * schema.prefixBytes());
  }

  /** Returns the memory in bytes currently held for remote rows. */
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

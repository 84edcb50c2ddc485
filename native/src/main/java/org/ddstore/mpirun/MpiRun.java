// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpirun;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.ddstore.DDStore;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.mpi.LaunchedRanks;
import org.ddstore.mpi.Mpi;
import org.ddstore.mpi.MpiOptions;
import org.ddstore.mpi.MpiTransport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.RankFailedException;

/**
 * A program without Spark whose ranks are processes that {@code mpirun} of Open MPI 4 has started.
 * Its stores are those of executors: rows of the same host are read from memory, all others by MPI
 * windows. All ranks run the same program:
 *
 * <pre>{@code
 * System.exit(MpiRun.run(Duration.ofMinutes(1), ranks -> {
 *   DDStore store = ranks.open(StoreOptions.defaults());
 *   store.add("features", rows);
 *   ...
 * }));
 * }</pre>
 *
 * <p><b>Failure.</b> An exception of one rank is printed, raised in the collectives of the others,
 * and ends all processes with status {@value #FAILED}: mpirun ends those that do not end by
 * themselves within {@value #FAILURE_END_SECONDS} seconds.
 *
 * <p>{@link #open}, {@link #release} and the methods of {@link #communicator} are collective; one
 * thread calls them.
 */
public final class MpiRun {
  /** Exit status of a process whose rank, or another process, has failed. */
  public static final int FAILED = 1;

  /** Exit status of a process that is ended because an MPI call does not return. */
  public static final int HUNG = Mpi.HUNG_STATUS;

  private static final int FAILURE_END_SECONDS = 5;

  /** Time in which other failing ranks can report; later ranks are not waited for. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private final LaunchedRanks world;
  private final MpiOptions options;
  private final Deque<Opened> opened = new ArrayDeque<>(); // last opened first
  private long opens;

  /**
   * A store made by {@link #open}, with its group and transport.
   *
   * @param number sequence number of the call, the same on all ranks
   */
  private record Opened(long number, Communicator group, MpiTransport transport, DDStore store) {
    void close() {
      transport.close();
      group.close();
    }
  }

  private MpiRun(LaunchedRanks world, MpiOptions options) {
    this.world = world;
    this.options = options;
  }

  /** A program that each rank runs. */
  @FunctionalInterface
  public interface Task {
    /**
     * Runs the program on this rank.
     *
     * @param ranks ranks of the job, valid until this method returns; stores that the task leaves
     *     open are closed then
     * @throws Exception to end all ranks; the exception is printed
     */
    void run(MpiRun ranks) throws Exception;
  }

  /**
   * Starts MPI, runs a task and finalises MPI; can be called once per process. Collective over all
   * processes of the mpirun job. Blocks.
   *
   * @param timeout longest time that ranks wait for each other, and that one MPI call may take:
   *     this value or, if that is longer, {@link StoreOptions#readTimeout()} plus 10 s. A call that
   *     takes longer ends the process with status {@value #HUNG}
   * @param task program of this rank
   * @return status with which the process must end now: 0, or {@value #FAILED} after the reason was
   *     printed to standard error
   */
  public static int run(Duration timeout, Task task) {
    Objects.requireNonNull(task, "task is null");
    MpiRun run;
    try {
      MpiOptions options = MpiOptions.ofLaunched(timeout);
      run = new MpiRun(Mpi.launch(System.getenv(), options), options);
    } catch (RuntimeException | LinkageError e) {
      report("before a rank was assigned", e);
      return FAILED;
    }
    return run.call(task);
  }

  private int call(Task task) {
    boolean succeeded = false;
    try {
      task.run(this);
      communicator().exchange("end of the program", () -> new byte[0]);
      succeeded = true;
    } catch (Exception | Error e) {
      communicator().abort(e);
      report("rank %d of %d".formatted(rank(), ranks()), e);
    }
    try {
      boolean ended = end(succeeded ? options.collectiveTimeout() : endAfterFailure());
      return succeeded && ended ? 0 : FAILED;
    } catch (RuntimeException e) {
      report("rank %d of %d, during shutdown".formatted(rank(), ranks()), e);
      return FAILED;
    }
  }

  private static Duration endAfterFailure() {
    return Duration.ofSeconds(FAILURE_END_SECONDS);
  }

  /** Prints a failure; a rank that only receives the failure of another prints one line. */
  private static void report(String subject, Throwable failure) {
    System.err.println(subject + ": " + failure);
    if (!(failure instanceof RankFailedException)) {
      failure.printStackTrace();
    }
    System.err.flush();
  }

  private boolean end(Duration patience) {
    opened.forEach(each -> each.store().close());
    if (!world.meet(patience)) {
      return false;
    }
    opened.forEach(Opened::close);
    return world.end();
  }

  /** {@return the rank of this process, in [0, {@link #ranks()})} */
  public int rank() {
    return communicator().rank();
  }

  /** {@return the number of processes of the mpirun job} */
  public int ranks() {
    return communicator().size();
  }

  /** {@return the communicator of all ranks; this object closes it} */
  public Communicator communicator() {
    return world.communicator();
  }

  /**
   * Opens a store of all ranks. Collective.
   *
   * @param storeOptions options of this rank
   * @return store that the caller can close; otherwise it is closed after the task
   */
  public DDStore open(StoreOptions storeOptions) {
    return open(0, storeOptions);
  }

  /**
   * Opens a store for each group of ranks with the same color, as of a split communicator.
   * Collective over all ranks.
   *
   * @param color any number
   * @param storeOptions options of this rank
   * @return store that the caller can close; otherwise it is closed after the task
   */
  public DDStore open(int color, StoreOptions storeOptions) {
    long number = opens++;
    List<Runnable> closes = new ArrayList<>();
    try {
      MpiTransport transport =
          Mpi.join(communicator(), color, options.readTimeout(storeOptions.readTimeout()));
      closes.add(() -> transport.close(AFTER_FAILURE));
      Communicator group = communicator().split(color);
      closes.add(group::close);
      DDStore store = DDStore.open(group, transport, storeOptions);
      opened.push(new Opened(number, group, transport, store));
      return store;
    } catch (RuntimeException | Error e) {
      closeAfter(e, closes);
      throw e;
    }
  }

  private static void closeAfter(Throwable failure, List<Runnable> closes) {
    try {
      Cleanup.runAll(closes.stream());
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Frees the memory of stores that all ranks have closed, including MPI's memory for them. Without
   * this call it stays allocated until the task has ended, because windows end on all ranks
   * together. A store with a read in flight does not count as closed. Collective over all ranks.
   */
  public void release() {
    Set<Long> inUse = inUse();
    for (Iterator<Opened> all = opened.iterator(); all.hasNext(); ) {
      Opened each = all.next();
      if (inUse.contains(each.number())) {
        each.transport().release(); // individual variables may have been removed
      } else {
        each.close();
        all.remove();
      }
    }
  }

  /** Returns the numbers of the stores that are still open on some rank. Collective. */
  private Set<Long> inUse() {
    long[] mine =
        opened.stream()
            .filter(each -> !each.store().isClosed())
            .mapToLong(Opened::number)
            .toArray();
    ByteBuffer bytes = ByteBuffer.allocate(mine.length * Long.BYTES);
    bytes.asLongBuffer().put(mine);
    Set<Long> inUse = new HashSet<>();
    for (byte[] encoded : communicator().exchange("release()", bytes::array)) {
      ByteBuffer numbers = ByteBuffer.wrap(encoded);
      while (numbers.hasRemaining()) {
        inUse.add(numbers.getLong());
      }
    }
    return inUse;
  }

  @Override
  public String toString() {
    return "MpiRun[rank %d of %d, %d stores]".formatted(rank(), ranks(), opened.size());
  }
}

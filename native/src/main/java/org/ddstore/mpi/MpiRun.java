package org.ddstore.mpi;

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
import org.ddstore.types.Cleanup;
import org.ddstore.types.RankFailedException;

/**
 * A program without Spark whose ranks are processes that {@code mpirun} of Open MPI 4 has started.
 * Its stores are the same as in executors: rows of the same host come by memory, all others by MPI
 * windows. The program is one rank's, and all ranks run the same:
 *
 * <pre>{@code
 * System.exit(MpiRun.run(Duration.ofMinutes(1), ranks -> {
 *   DDStore store = ranks.open(StoreOptions.defaults());
 *   store.add("features", rows);
 *   ...
 * }));
 * }</pre>
 *
 * <p><b>Failure.</b> What a rank throws is printed, raised in the collectives of the others, and
 * ends all processes with status {@value #FAILED}: those that do not come to an end by themselves
 * within {@value #FAREWELL_SECONDS} seconds are ended by mpirun.
 *
 * <p>{@link #open}, {@link #release} and what {@link #communicator} offers are collective; one
 * thread calls them.
 */
public final class MpiRun {
  /** The status of a process whose rank, or that of another process, has failed. */
  public static final int FAILED = 1;

  private static final int FAREWELL_SECONDS = 5;

  /** Others that fail, too, come in this time; who does not is not waited for. */
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private final LaunchedRanks world;
  private final MpiOptions options;
  private final Deque<Opened> opened = new ArrayDeque<>(); // last opened first
  private long opens;

  /**
   * What {@link #open} has made.
   *
   * @param number of the call, the same on all ranks
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

  /** What each rank does. */
  @FunctionalInterface
  public interface Task {
    /**
     * Runs on this rank.
     *
     * @param ranks valid until this returns; closes the stores that the task leaves open
     */
    void run(MpiRun ranks) throws Exception;
  }

  /**
   * Starts MPI, runs a task and ends MPI; once in a process. Collective over all processes of the
   * mpirun. Blocks.
   *
   * @param timeout how long ranks wait for each other, and how long one call of MPI may take: this
   *     or, if that is longer, {@link StoreOptions#readTimeout()} and 10 s. A call that takes
   *     longer ends the process with status {@value Mpi#HUNG_STATUS}
   * @return the status with which the process must end now: 0, or {@value #FAILED} after the reason
   *     was printed to the standard error
   */
  public static int run(Duration timeout, Task task) {
    Objects.requireNonNull(task, "task");
    MpiRun run;
    try {
      MpiOptions options = MpiOptions.ofLaunched(timeout);
      run = new MpiRun(Mpi.launch(Launch.parse(System.getenv()), options), options);
    } catch (RuntimeException | LinkageError e) {
      report("before it had a rank", e);
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
      boolean ended = end(succeeded ? options.collectiveTimeout() : farewell());
      return succeeded && ended ? 0 : FAILED;
    } catch (RuntimeException e) {
      report("rank %d of %d, at its end".formatted(rank(), ranks()), e);
      return FAILED;
    }
  }

  private static Duration farewell() {
    return Duration.ofSeconds(FAREWELL_SECONDS);
  }

  /** Whoever only learns of a failure says so in a line. */
  private static void report(String who, Throwable failure) {
    System.err.println(who + ": " + failure);
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

  /** Of this process, of [0, {@link #ranks()}). */
  public int rank() {
    return communicator().rank();
  }

  /** All processes of the mpirun. */
  public int ranks() {
    return communicator().size();
  }

  /** Collectives of all ranks; stays this one's, who closes it. */
  public Communicator communicator() {
    return world.communicator();
  }

  /** A store of all ranks. Collective. */
  public DDStore open(StoreOptions storeOptions) {
    return open(0, storeOptions);
  }

  /**
   * A store of each group of ranks that give the same color, as of a communicator that was split.
   * Collective over all ranks.
   *
   * @param color any number
   * @return may be closed by the caller, and is closed after the task
   */
  public DDStore open(int color, StoreOptions storeOptions) {
    long number = opens++;
    List<Runnable> closes = new ArrayList<>();
    try {
      MpiTransport transport =
          Mpi.join(communicator(), color, options.withReadTimeout(storeOptions.readTimeout()));
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
   * Frees the memory of stores that all ranks have closed, and of what MPI has for them, which
   * otherwise stay until the task has ended, because windows end for all ranks together. A store in
   * which a read is in flight is not closed yet. Collective over all ranks.
   */
  public void release() {
    Set<Long> inUse = inUse();
    for (Iterator<Opened> all = opened.iterator(); all.hasNext(); ) {
      Opened each = all.next();
      if (inUse.contains(each.number())) {
        each.transport().release(); // variables may have gone
      } else {
        each.close();
        all.remove();
      }
    }
  }

  /** Numbers of the stores that are not closed on some rank. Collective. */
  private Set<Long> inUse() {
    long[] mine =
        opened.stream()
            .filter(each -> !each.store().isClosed())
            .mapToLong(Opened::number)
            .toArray();
    ByteBuffer bytes = ByteBuffer.allocate(mine.length * Long.BYTES);
    bytes.asLongBuffer().put(mine);
    Set<Long> inUse = new HashSet<>();
    for (byte[] ofRank : communicator().exchange("release()", bytes::array)) {
      ByteBuffer numbers = ByteBuffer.wrap(ofRank);
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

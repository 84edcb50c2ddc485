package org.ddstore.loader;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.ddstore.ReadStatistics;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Coverage;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Cleanup;
import org.ddstore.types.PoolStarvedException;
import org.ddstore.types.ReadPath;

/**
 * Makes the batches of one rank ahead of time: a thread plans them, workers read them, the consumer
 * finds them ready. Local, but for {@link #receipt}: ranks compute the same order and do not wait
 * for each other.
 *
 * <p>A consumer that finds no batch ready, within {@link #pop} or a loop, does itself what is
 * quicker than waking a thread: it plans some, if the sampler says that it {@linkplain
 * BatchSampler#neverWaits never waits}, as all of this library do, and reads some, if all rows are
 * in memory that this process has, all fields that are read are fixed, and there is no transform.
 * One that comes back within 50 us may plan one, too, for each that it takes. The batches of other
 * samplers are computed on the planner's thread, their orders where an epoch begins; transforms run
 * on the workers' threads.
 *
 * <p>Used by one thread, the consumer's; {@link #statistics}, {@link #readStatistics}, {@link
 * #pending} and the close of a batch are for any. The first error of a sampler, a read or a
 * transform comes out where its batch would have, and again at every later call.
 */
public final class Loader implements AutoCloseable {
  private final Variable variable;
  private final BatchSampler sampler;
  private final WorldRank place;
  private final LoaderOptions options;
  private final StageCounters counters = new StageCounters();
  private final HostMemory memory;
  private final Recipe recipe;
  private final Pipeline pipeline;
  private final Crew crew;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final LoopClock clock = new LoopClock();
  private EpochProgress progress;
  private EpochLoop loop;
  private boolean hasPushed;

  private Loader(Variable variable, BatchSampler sampler, WorldRank place, LoaderOptions options) {
    this.variable = variable;
    this.sampler = sampler;
    this.place = place;
    this.options = options;
    this.memory = options.openMemory();
    try {
      this.recipe = Recipe.of(variable, sampler.space(), options, memory);
      this.pipeline = new Pipeline(recipe, options, counters);
      this.crew = new Crew(pipeline, counters, options);
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /** A loader of a variable's rows, to be closed by the caller before the store. Local. */
  public static Loader open(
      Variable variable, BatchSampler sampler, WorldRank place, LoaderOptions options) {
    Objects.requireNonNull(variable, "variable is null");
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(place, "place is null");
    Objects.requireNonNull(options, "options is null");
    return new Loader(variable, sampler, place, options);
  }

  /** As above; rank and world are asked for once, now. */
  public static Loader open(
      Variable variable, BatchSampler sampler, Supplier<WorldRank> place, LoaderOptions options) {
    Objects.requireNonNull(variable, "variable is null");
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(place, "place is null");
    Objects.requireNonNull(options, "options is null");
    return new Loader(variable, sampler, place.get(), options);
  }

  /**
   * Begins an epoch, and forgets what was not consumed of the one before. Does not block, but for
   * what the sampler does to make its order: nothing in most, a sort of all rows in {@code
   * weightedWithoutReplacement} and {@code costAware}. A sampler's own code that still plans is
   * interrupted; whatever it had open across batches must bear that. An iterator that was pushed
   * before and ignores the interrupt for a second keeps its thread and the place of one batch until
   * it returns, and another thread plans the epoch.
   *
   * @param number from 0
   * @throws IllegalArgumentException if there are too few rows for one batch a rank, or a batch
   *     exceeds the memory; both with the numbers
   */
  public EpochLoop epoch(long number) {
    return begin(number, 0);
  }

  /**
   * Goes on where a state was taken, also on another number of ranks: the rest of its epoch comes
   * batch for batch as it would have. Otherwise as {@link #epoch}.
   *
   * @throws IllegalArgumentException if the state is of other rows, or of another configuration of
   *     sampler or options, naming what differs. What transforms do is not known to states
   */
  public EpochLoop resume(EpochState state) {
    Objects.requireNonNull(state, "state is null");
    state.checkSame(stateAt(0, 0, variable.rows()));
    return begin(state.epoch(), state.batch());
  }

  private EpochLoop begin(long number, long from) {
    long rows = variable.rows();
    EpochBatches plan = sampler.epoch(rows, place, number);
    if (from > plan.batches()) {
      throw new IllegalArgumentException(
          "batch %,d of epoch %,d outside [0, %,d]".formatted(from, number, plan.batches()));
    }
    pipeline.check(plan.maxSize()); // what is refused has not begun, and what was before goes on
    closeLoop();
    pipeline.reset();
    crew.interruptPlanning();
    progress = new EpochProgress(sampler, place, rows, number, plan.batches(), from);
    clock.begin();
    pipeline.push(new EpochSource(sampler, plan, number, from));
    loop = new EpochLoop(this, progress);
    return loop;
  }

  private void closeLoop() {
    if (loop != null) {
      loop.closeLast();
    }
  }

  /**
   * Adds samples after all that was pushed before, as many as the iterator has, which may be
   * without end: it is pulled on another thread, batch by batch, as far as batches are made ahead.
   * Does not block.
   *
   * @param samples numbers of samples: of rows, unless the sampler has windows or tiles
   * @param batch samples a batch, at least 1
   */
  public void push(Iterator<Long> samples, int batch) {
    Objects.requireNonNull(samples, "samples");
    if (batch < 1) {
      throw new IllegalArgumentException("batch %,d must be at least 1".formatted(batch));
    }
    pipeline.push(new PushedSource(samples, batch, options.partialBatches()));
    hasPushed = true;
  }

  /**
   * Takes the next batch, which the caller closes. Blocks. Rows of its own host that another rank
   * is changing ({@link org.ddstore.DDStore#epochBegin()}) may take up to the read timeout of the
   * store more.
   *
   * @throws PoolStarvedException if none is ready in time; the next call goes on waiting. The
   *     message names the ranks that reads wait for, and the iterator, sampler or transform that
   *     runs; the cause is the stack of one that has run for a second or more
   * @throws org.ddstore.types.DDStoreException if the thread is interrupted while it waits; its
   *     flag stays set, and the loader can go on
   */
  public LoadedBatch pop(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    clock.asked(System.nanoTime());
    LoadedBatch batch = popNamingWhatRuns(timeout);
    clock.got(System.nanoTime());
    if (progress != null) {
      progress.delivered(batch.plan());
    }
    return batch;
  }

  private LoadedBatch popNamingWhatRuns(Duration timeout) {
    try {
      return pipeline.pop(timeout);
    } catch (PoolStarvedException e) {
      String running = crew.describeRunning();
      throw running.isEmpty()
          ? e
          : new PoolStarvedException(e.getMessage() + "; " + running, crew.longestUserCode());
    }
  }

  LoadedBatch popFor(EpochLoop asking) {
    if (asking != loop) {
      throw new IllegalStateException("this epoch ended when another was begun on its loader");
    }
    return pop(options.popTimeout());
  }

  void loopEnded(EpochLoop ended) {
    if (ended == loop) {
      clock.asked(System.nanoTime());
    }
  }

  /** How many batches are planned and not given out. */
  public int pending() {
    return pipeline.pending();
  }

  /** True if {@link #pop} would not wait. */
  public boolean isReady() {
    return pipeline.isReady();
  }

  /**
   * Where the consumer is: behind the last batch that it was given. Before the first epoch, at its
   * beginning. Batches of pushed samples after an epoch do not count. A state has the rows that the
   * epoch began with, so one is refused once rows were appended, until another epoch is begun. It
   * has the updates up to now, while batches that were made ahead may have the rows of before.
   *
   * @throws IllegalStateException if samples were pushed and no epoch was begun: what an iterator
   *     has given is not part of a state
   */
  public EpochState state() {
    if (progress == null && hasPushed) {
      throw new IllegalStateException(
          "no epoch was begun on %s, and a state does not tell where pushed samples are"
              .formatted(this));
    }
    return progress == null
        ? stateAt(0, 0, variable.rows())
        : stateAt(progress.epoch(), progress.done(), progress.rows());
  }

  private EpochState stateAt(long epoch, long batch, long rows) {
    CRC32 schema = new CRC32();
    schema.update(variable.schema().toBytes());
    return new EpochState(
        epoch,
        batch,
        rows,
        variable.version(),
        sampler.describe(place.world()),
        "%08x".formatted(schema.getValue()),
        options.digest(),
        recipe.delivery());
  }

  /**
   * Whether the ranks together were given each sample of the epoch exactly once. Collective. To be
   * called when the epoch is over; what was not delivered counts as lost, what was before a resume
   * as delivered. Takes a few nanoseconds a sample.
   *
   * @param communicator of the ranks of this loader, in their order
   * @throws IllegalStateException if this rank has begun no epoch, or ranks are in different ones;
   *     where one rank has, the others get a {@link org.ddstore.types.RankFailedException}
   */
  public CoverageReceipt receipt(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator is null");
    AtomicReference<Coverage> mine = new AtomicReference<>();
    Callable<byte[]> contribution =
        () -> {
          byte[] same = receiptOf().getBytes(UTF_8);
          mine.set(progress.accounted()); // runs the sampler, whose errors reach all
          return same;
        };
    byte[][] epochs = communicator.exchange("receipt()", contribution);
    for (int rank = 0; rank < epochs.length; rank++) {
      if (!Arrays.equals(epochs[rank], epochs[0])) {
        throw new IllegalStateException(
            "rank %d is at \"%s\", rank 0 at \"%s\": a receipt is of one epoch of all ranks"
                .formatted(rank, new String(epochs[rank], UTF_8), new String(epochs[0], UTF_8)));
      }
    }
    communicator.allReduce(mine.get().sums(), ReduceOp.SUM);
    return mine.get().receipt();
  }

  /** What all ranks must agree on. */
  private String receiptOf() {
    if (progress == null) {
      throw new IllegalStateException("no epoch was begun on " + this);
    }
    return "epoch %d of %d rows, %s"
        .formatted(progress.epoch(), progress.rows(), sampler.describe(place.world()));
  }

  /** What each stage has done since the loader was opened. */
  public List<StageStatistics> statistics() {
    return counters.all();
  }

  /**
   * What was read over each path since the loader was opened: one element per path, at its {@link
   * ReadPath#index()}.
   */
  public List<ReadStatistics> readStatistics() {
    return counters.reads().all();
  }

  /** Whether the memory of batches is pinned for a device, and by what or why not, for people. */
  public String hostMemory() {
    return memory.description();
  }

  /**
   * The part of the loop's time that was the consumer's own work, in the last epoch of this rank,
   * without its first step: of [0, 1].
   */
  public double utilisation() {
    return clock.utilisation();
  }

  /**
   * The mean of {@link #utilisation()} over the ranks and the epochs since the loader was opened,
   * as the DLIO benchmark has it: of [0, 1]; 0 without a counted step. Collective.
   *
   * @param communicator of the ranks of this loader
   */
  public double utilisation(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator is null");
    double[] totals = clock.totals();
    communicator.allReduce(totals, ReduceOp.SUM);
    return totals[1] == 0 ? 0 : totals[0] / totals[1];
  }

  /**
   * Ends the threads and frees the memory; the batch of a loop is closed, those that were popped
   * stay valid until they are. A read that waits for another process is broken off, but for one of
   * MPI, which cannot be. Idempotent; all is done that can be, and the first error thrown.
   *
   * @throws IllegalStateException if a transform, an iterator or a sampler calls it; the loader
   *     stays open
   * @throws org.ddstore.types.DeadlineExceededException if a transform does not end in time, nor a
   *     read, or an iterator or a sampler ignores its interrupt for a second; it is named, and
   *     frees its memory when it does. One of MPI ends when MPI comes back, or with the JVM, which
   *     the watchdog of that transport ends if it does not
   */
  @Override
  public void close() {
    if (crew.isMember(Thread.currentThread()) || pipeline.isHelper(Thread.currentThread())) {
      throw new IllegalStateException(
          "a transform, an iterator or a sampler cannot close the loader that runs it: throw an"
              + " exception to end the loader, or close it on the consumer's thread");
    }
    if (closed.compareAndSet(false, true)) {
      Cleanup.runAll(
          Stream.of(
              this::closeLoop,
              pipeline::close,
              this::awaitThreads,
              memory::close,
              pipeline::checkFreed));
    }
  }

  /** What was lost is freed only if all have ended: it may be what one that goes on writes to. */
  private void awaitThreads() {
    Cleanup.runAll(
        Stream.of(
            () -> crew.join(options.closeTimeout()),
            () -> pipeline.awaitHelpers(options.closeTimeout())));
    pipeline.freeLost();
  }

  /** True once {@link #close} was called. */
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public String toString() {
    return "Loader[\"%s\", %s, %s]"
        .formatted(variable.name(), sampler.describe(place.world()), place);
  }
}

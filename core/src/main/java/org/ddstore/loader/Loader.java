// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.ddstore.ReadStatistics;
import org.ddstore.Variable;
import org.ddstore.checkpoint.Checkpoint;
import org.ddstore.collective.Communicator;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Cleanup;
import org.ddstore.types.Internal;
import org.ddstore.types.ReadPath;

/**
 * A loader that makes the batches of one rank ahead of time: a planner thread plans them, workers
 * read them, and the consumer takes them when they are ready. Local except for {@link #receipt}:
 * every rank computes the same order, and ranks do not wait for each other.
 *
 * <p>A consumer that finds no batch ready, within {@link #pop} or a loop, does the work that is
 * quicker than waking a thread. It plans batches if the sampler {@linkplain BatchSampler#neverWaits
 * never waits}, as all samplers of this library do. It reads batches if all rows are in memory that
 * this process maps, all fields read are fixed, and there is no transform. Batches of other
 * samplers are computed on the planner's thread, and their orders where an epoch begins; transforms
 * run on the workers' threads.
 *
 * <p>Used by one thread, the consumer's; {@link #statistics}, {@link #readStatistics}, {@link
 * #pending} and the close of a batch may be called from any thread. The first error of a sampler, a
 * read or a transform is thrown in place of its batch, and again at every later call.
 */
public final class Loader implements AutoCloseable {
  private final Variable variable;
  private final BatchSampler sampler;
  private final WorldRank place;
  private final LoaderOptions options;
  private final StageCounters counters = new StageCounters();
  private final HostMemory memory;
  private final Pipeline pipeline;
  private final LoaderThreads threads;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Consumption consumption;
  private EpochLoop loop;

  private Loader(Variable variable, BatchSampler sampler, WorldRank place, LoaderOptions options) {
    this.variable = variable;
    this.sampler = sampler;
    this.place = place;
    this.options = options;
    this.memory = options.openMemory();
    try {
      Recipe recipe = Recipe.of(variable, sampler.space(), options, memory);
      this.consumption = new Consumption(variable, sampler, place, options, recipe.delivery());
      this.pipeline = new Pipeline(recipe, options, counters, System::nanoTime);
      this.threads = new LoaderThreads(pipeline, counters, options);
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /**
   * Opens a loader of a variable's rows; the caller closes it before the store. Local.
   *
   * @param variable variable to read
   * @param sampler order and batches of the samples
   * @param place this rank, and the number of ranks
   * @param options options of the loader
   * @return the loader
   */
  public static Loader open(
      Variable variable, BatchSampler sampler, WorldRank place, LoaderOptions options) {
    Objects.requireNonNull(variable, "variable is null");
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(place, "place is null");
    Objects.requireNonNull(options, "options is null");
    return new Loader(variable, sampler, place, options);
  }

  /**
   * Opens a loader as above; rank and world are read once, at this call.
   *
   * @param variable variable to read
   * @param sampler order and batches of the samples
   * @param place this rank, and the number of ranks
   * @param options options of the loader
   * @return the loader
   */
  public static Loader open(
      Variable variable, BatchSampler sampler, Supplier<WorldRank> place, LoaderOptions options) {
    Objects.requireNonNull(place, "place is null");
    return open(variable, sampler, place.get(), options);
  }

  /**
   * Begins an epoch and discards the undelivered batches of the previous one. Blocks only while the
   * sampler computes its order: most do nothing here, {@code weightedWithoutReplacement} and {@code
   * costAware} sort all rows. A user's sampler that is still planning is interrupted; resources
   * that it keeps open across batches must tolerate that. A pushed iterator that ignores the
   * interrupt for one second keeps its thread and the memory of one batch until it returns, and
   * another thread plans the epoch.
   *
   * @param number epoch number, counted from 0
   * @return the batches of the epoch
   * @throws IllegalArgumentException if there are too few rows for one batch per rank, or a batch
   *     exceeds the memory budget; the message states both numbers
   */
  public EpochLoop epoch(long number) {
    return begin(number, 0);
  }

  /**
   * Continues from a saved state, also on another number of ranks: the rest of the epoch yields the
   * same batches in the same order. Otherwise as {@link #epoch}.
   *
   * @param state state of a loader of the same configuration
   * @return the batches of the rest of the epoch
   * @throws IllegalArgumentException if the state is of other rows, or of another configuration of
   *     sampler or options; the message names the difference. States do not cover what transforms
   *     do
   */
  public EpochLoop resume(EpochState state) {
    Objects.requireNonNull(state, "state is null");
    consumption.checkSame(state);
    return begin(state.epoch(), state.batch());
  }

  /**
   * Iterates over the batches of several epochs, from number 0 on.
   *
   * @param epochs number of epochs, at least 1
   * @return the batches of all epochs; nothing happens before its iteration
   */
  public EpochsLoop epochs(int epochs) {
    return epochs(epochs, Optional.empty());
  }

  /**
   * Iterates over the batches of several epochs, from a state on, as {@link #resume} does.
   *
   * @param epochs number of epochs of the whole training, at least 1
   * @param state state of a loader of the same configuration
   * @return the batches from the state to the end of the last epoch; none if that is reached
   * @throws IllegalArgumentException as {@link #resume}
   */
  public EpochsLoop epochs(int epochs, EpochState state) {
    Objects.requireNonNull(state, "state is null");
    consumption.checkSame(state);
    return new EpochsLoop(this, epochs, state);
  }

  /**
   * Iterates over the batches of several epochs, from the position of a checkpoint on.
   *
   * @param epochs number of epochs of the whole training, at least 1
   * @param saved checkpoint to continue from; empty to begin with epoch 0
   * @return the batches from there to the end of the last epoch
   * @throws IllegalArgumentException as {@link #resume}
   */
  public EpochsLoop epochs(int epochs, Optional<Checkpoint> saved) {
    Objects.requireNonNull(saved, "saved is null");
    return saved
        .map(checkpoint -> epochs(epochs, checkpoint.state()))
        .orElseGet(() -> new EpochsLoop(this, epochs, null));
  }

  /** Records that the loop over all epochs has delivered the last batch of an epoch. */
  void completed() {
    consumption.completed();
  }

  private EpochLoop begin(long number, long from) {
    long rows = variable.rows();
    EpochBatches plan = sampler.epoch(rows, place, number);
    if (from > plan.batches()) {
      throw new IllegalArgumentException(
          "batch %,d of epoch %,d outside [0, %,d]".formatted(from, number, plan.batches()));
    }
    pipeline.check(plan.maxSize()); // if it throws, the previous epoch continues
    closeLoop();
    pipeline.reset();
    threads.interruptPlanning();
    EpochProgress progress = consumption.begin(rows, number, plan.batches(), from);
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
   * Adds samples after all samples pushed before: all samples of the iterator, which may be
   * infinite. Another thread pulls them batch by batch, no further than batches are made ahead.
   * Does not block.
   *
   * @param samples sample numbers: row numbers, unless the sampler has windows, tiles or a subset
   *     of the rows
   * @param batch samples per batch, at least 1
   */
  public void push(Iterator<Long> samples, int batch) {
    Objects.requireNonNull(samples, "samples is null");
    if (batch < 1) {
      throw new IllegalArgumentException("batch %,d must be at least 1".formatted(batch));
    }
    pipeline.push(new PushedSource(samples, batch, options.partialBatches()));
    consumption.pushed();
  }

  /**
   * Takes the next batch, which the caller closes. Blocks. Rows of the same host that another rank
   * is changing ({@link org.ddstore.DDStore#epochBegin()}) can take longer by up to the read
   * timeout of the store.
   *
   * @param timeout maximum time to wait, above 0
   * @return the batch
   * @throws org.ddstore.types.PoolStarvedException if no batch is ready in time; the next call
   *     continues to wait. The message names the ranks that reads wait for and the iterator,
   *     sampler or transform that is running; the cause is the stack of user code that has run for
   *     one second or more
   * @throws org.ddstore.types.DDStoreException if the thread is interrupted while it waits; its
   *     interrupt flag stays set, and the loader remains usable
   */
  public LoadedBatch pop(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    consumption.asked();
    LoadedBatch batch = threads.pop(timeout);
    BatchPlan plan = batch.plan();
    consumption.delivered(plan.samples(), plan.size(), plan.padding());
    return batch;
  }

  /** {@return the batches, for a loader that delivers them later} */
  @Internal
  public BatchFeed feed() {
    return new BatchFeed(threads, consumption);
  }

  LoadedBatch popFor(EpochLoop asking) {
    if (asking != loop) {
      throw new IllegalStateException("this epoch ended when another was begun on its loader");
    }
    return pop(options.popTimeout());
  }

  void loopEnded(EpochLoop ended) {
    if (ended == loop) {
      consumption.asked();
    }
  }

  /** {@return the number of planned batches that are not yet delivered} */
  public int pending() {
    return pipeline.pending();
  }

  /** {@return whether {@link #pop} would return without waiting} */
  public boolean isReady() {
    return pipeline.isReady();
  }

  /**
   * {@return the position of the consumer: after the last delivered batch or, before the first
   * epoch, at its beginning; in the hook of {@link EpochsLoop#afterEpoch} at the beginning of the
   * next epoch} Batches of samples pushed after an epoch do not count. A state records the rows
   * that the epoch began with, so it is rejected after rows were appended, until another epoch is
   * begun. It records the updates up to now, while batches made ahead can hold earlier rows.
   *
   * @throws IllegalStateException if samples were pushed and no epoch was begun, because a state
   *     does not record the position of an iterator
   */
  public EpochState state() {
    return consumption.state(this);
  }

  /**
   * {@return a receipt that shows whether the ranks together received each sample of the epoch
   * exactly once} Collective. To be called at the end of the epoch: undelivered samples count as
   * lost, those before a resume as delivered. Takes a few nanoseconds per sample.
   *
   * @param communicator communicator of the ranks of this loader, in the same order
   * @throws IllegalStateException if this rank has begun no epoch, or ranks are in different ones;
   *     if only some ranks have begun one, the others throw a {@link
   *     org.ddstore.types.RankFailedException}
   */
  public CoverageReceipt receipt(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator is null");
    return EpochProgress.receipt(communicator, () -> consumption.begun(this));
  }

  /** {@return the counters of each stage since the loader was opened} */
  public List<StageStatistics> statistics() {
    return counters.all();
  }

  /** {@return the read statistics since the open, one element per {@link ReadPath#index()}} */
  public List<ReadStatistics> readStatistics() {
    return counters.reads();
  }

  /** {@return the number of batches that the consumer has received since the open} Any thread. */
  public long batches() {
    return consumption.clock().batches();
  }

  /**
   * {@return the time of the consumer's own work since the open, from the receipt of each batch to
   * the next request, in nanoseconds} Any thread.
   */
  public long computeNanos() {
    return consumption.clock().computeNanos();
  }

  /** {@return human-readable: what pins batch memory for a device, or why it is not pinned} */
  public String hostMemory() {
    return memory.description();
  }

  /**
   * {@return the share of the loop's time that was the consumer's own work, in the last epoch of
   * this rank, without its first step: in [0, 1]}
   */
  public double utilisation() {
    return consumption.utilisation();
  }

  /**
   * {@return the mean of {@link #utilisation()} over the ranks and the epochs since the loader was
   * opened, as the DLIO benchmark defines it: in [0, 1]; 0 without a counted step} Collective.
   *
   * @param communicator communicator of the ranks of this loader
   */
  public double utilisation(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator is null");
    return consumption.utilisation(communicator);
  }

  /**
   * Ends the threads and frees the memory. The batch of a loop is closed; popped batches stay valid
   * until they are closed. A read that waits for another process is cancelled, except for a read by
   * MPI, which cannot be. Idempotent; all steps run, and the first error is thrown.
   *
   * @throws IllegalStateException if a transform, an iterator or a sampler calls it; the loader
   *     stays open
   * @throws org.ddstore.types.DeadlineExceededException if a transform or a read does not end in
   *     time, or an iterator or a sampler ignores its interrupt for one second; the message names
   *     it, and it frees its memory when it ends. A read by MPI ends when MPI returns, or with the
   *     JVM, which the watchdog of that transport ends otherwise
   */
  @Override
  public void close() {
    if (threads.isMember(Thread.currentThread())
        || pipeline.isWorkingConsumer(Thread.currentThread())) {
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

  /** Frees lost slots only after all threads have ended, because a thread may write to them. */
  private void awaitThreads() {
    Cleanup.runAll(
        Stream.of(
            () -> threads.join(options.closeTimeout()),
            () -> pipeline.awaitConsumers(options.closeTimeout())));
    pipeline.freeLost();
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public String toString() {
    return "Loader[\"%s\", %s, %s]"
        .formatted(variable.name(), sampler.describe(place.world()), place);
  }
}

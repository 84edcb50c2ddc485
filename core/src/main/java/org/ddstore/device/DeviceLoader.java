// SPDX-License-Identifier: Apache-2.0
package org.ddstore.device;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.ddstore.Variable;
import org.ddstore.loader.BatchFeed;
import org.ddstore.loader.EpochLoop;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.DeviceChoice;
import org.ddstore.memory.DeviceStream;
import org.ddstore.memory.Devices;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;

/**
 * A loader whose batches are delivered on a device. The batches of a {@link Loader} are copied on a
 * stream of their own, while the consumer computes on the previous ones: {@link
 * LoaderOptions#deviceDepth(int)} batches are on the device, one of them the consumer's. Batches on
 * the host are pinned if the driver permits it. Local.
 *
 * <p>Used by one thread. The first error of the driver is thrown again at every later call; errors
 * of the loader are thrown as {@link Loader} does.
 */
public final class DeviceLoader implements AutoCloseable {
  private final Loader loader;
  private final BatchFeed feed;
  private final DeviceStream stream;
  private final LoaderOptions options;
  private final List<DeviceSlot> slots = new ArrayList<>();
  private final Deque<DeviceSlot> idle = new ArrayDeque<>();
  private final Deque<DeviceSlot> inFlight = new ArrayDeque<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private DeviceLoop loop;
  private long left; // batches of the epoch that were not yet taken from the loader
  private RuntimeException failure;

  private DeviceLoader(Loader loader, DeviceStream stream, LoaderOptions options) {
    this.loader = loader;
    this.feed = loader.feed();
    this.stream = stream;
    this.options = options;
    for (int i = 0; i < options.deviceDepth(); i++) {
      slots.add(new DeviceSlot(stream, feed));
    }
    idle.addAll(slots);
  }

  /**
   * {@return the reason why this process has no device; empty if it has one} Never throws, and
   * creates no context. The first call in a process may take one second.
   */
  public static Optional<String> problem() {
    Devices devices = Devices.ofThisProcess();
    return devices.count() > 0 ? Optional.empty() : Optional.of(devices.description());
  }

  /**
   * Opens a loader of a variable's rows on the device of the options; the caller closes it before
   * the store. Retains the primary context of the device. Local.
   *
   * @param variable variable to read
   * @param sampler order and batches of the samples
   * @param place this rank, and the number of ranks
   * @param options options of the loader; see {@link LoaderOptions#device(int)} for the device
   * @return the loader
   * @throws IllegalArgumentException if the driver does not have the configured device, or the
   *     current CUDA context or the environment variable {@code LOCAL_RANK} names another; the
   *     message names both
   * @throws DDStoreException if there is no device, see {@link #problem()}, or the driver refuses
   */
  public static DeviceLoader open(
      Variable variable, BatchSampler sampler, WorldRank place, LoaderOptions options) {
    Objects.requireNonNull(variable, "variable is null");
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(place, "place is null");
    Objects.requireNonNull(options, "options is null");
    Devices devices = Devices.ofThisProcess();
    if (devices.count() == 0) {
      throw new DDStoreException(
          "batches cannot be copied to a device: %s: use a Loader"
              .formatted(devices.description()));
    }
    String localRank = System.getenv(Devices.LOCAL_RANK);
    int device = DeviceChoice.of(options.device(), List.of(), localRank, devices).require();
    Loader loader = Loader.open(variable, sampler, place, options.device(device));
    try {
      return new DeviceLoader(loader, Devices.openStream(device), options);
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(loader::close));
      throw e;
    }
  }

  /**
   * Begins an epoch as {@link Loader#epoch}, and discards the undelivered batches of the previous
   * one.
   *
   * @param number epoch number, counted from 0
   * @return the batches of the epoch
   */
  public DeviceLoop epoch(long number) {
    check();
    return begin(loader.epoch(number));
  }

  /**
   * Continues from a saved state as {@link Loader#resume}.
   *
   * @param state state of a loader of the same configuration
   * @return the batches of the rest of the epoch
   */
  public DeviceLoop resume(EpochState state) {
    check();
    return begin(loader.resume(state));
  }

  private DeviceLoop begin(EpochLoop host) {
    guarded(this::discard);
    left = host.remaining();
    loop = new DeviceLoop(this, host);
    return loop;
  }

  private void discard() {
    Cleanup.runAll(
        Stream.of(
            this::closeLoop,
            () -> Cleanup.runAll(slots.stream().map(slot -> slot::releaseHost)),
            () -> {
              idle.addAll(inFlight);
              inFlight.clear();
            }));
  }

  private void closeLoop() {
    if (loop != null) {
      loop.closeLast();
    }
  }

  /**
   * Takes the next batch of the epoch, which the caller closes. Blocks until a batch is ready on
   * the host; its copy may still run.
   *
   * @param timeout maximum time to wait, above 0
   * @return the batch
   * @throws org.ddstore.types.PoolStarvedException if no batch is ready in time; the next call
   *     continues to wait
   * @throws org.ddstore.types.DeviceException if the driver refuses a copy, or one has failed
   * @throws NoSuchElementException if the epoch has no more batches, or none was begun
   * @throws IllegalStateException if the caller holds all batches that {@link
   *     LoaderOptions#deviceDepth(int)} permits
   */
  public DeviceBatch pop(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    check();
    feed.asked();
    if (inFlight.isEmpty()) {
      checkNext();
      guarded(() -> slots.forEach(DeviceSlot::releaseHostIfDone));
      start(pull(timeout));
    }
    startReady(timeout);
    DeviceSlot next = inFlight.remove();
    DeviceSlot.Facts facts = next.facts();
    feed.delivered(next.samples(), facts.samples(), facts.padding());
    return new DeviceBatch(next, this);
  }

  private void checkNext() {
    if (left == 0) {
      throw new NoSuchElementException("the epoch has no more batches, or none was begun: epoch()");
    }
    if (idle.isEmpty()) {
      throw new IllegalStateException(
          "all %d batches of %s are held: close one, or raise deviceDepth"
              .formatted(slots.size(), this));
    }
  }

  /** Starts the copies of batches that are ready on the host. */
  private void startReady(Duration timeout) {
    guarded(() -> slots.forEach(DeviceSlot::releaseHostIfDone));
    while (left > 0 && !idle.isEmpty() && loader.isReady()) {
      LoadedBatch batch;
      try {
        batch = pull(timeout);
      } catch (RuntimeException e) {
        return; // of a later batch: the loader throws it again when its turn comes
      }
      start(batch);
    }
  }

  /** Takes a batch from the loader, which may need the memory of batches that are copied. */
  private LoadedBatch pull(Duration timeout) {
    if (!loader.isReady()) {
      guarded(() -> slots.forEach(DeviceSlot::releaseHost));
    }
    LoadedBatch batch = feed.take(timeout);
    left--;
    return batch;
  }

  private void start(LoadedBatch batch) {
    DeviceSlot slot = idle.remove();
    guarded(() -> slot.start(batch));
    inFlight.add(slot);
  }

  /** Runs calls of the driver; the first failure is kept for all later calls. */
  private void guarded(Runnable calls) {
    try {
      calls.run();
    } catch (RuntimeException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  private void check() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    if (failure != null) {
      throw failure;
    }
  }

  DeviceBatch popFor(DeviceLoop asking) {
    if (asking != loop) {
      throw new IllegalStateException("this epoch ended when another was begun on its loader");
    }
    return pop(options.popTimeout());
  }

  void giveBack(DeviceSlot slot) {
    if (!closed.get()) {
      guarded(slot::endUse);
      idle.add(slot);
    }
  }

  /**
   * {@return the loader of the batches on the host, for its statistics, receipts and states} They
   * count batches that this loader has delivered. No batch may be popped from it, and no epoch
   * begun.
   */
  public Loader loader() {
    return loader;
  }

  /** {@return the number of the device} */
  public int device() {
    return stream.device();
  }

  /**
   * Waits for all copies, and for the work on all streams given to {@link DeviceBatch#awaitOn};
   * frees the memory on the device and closes the loader. All batches end. Blocks. Idempotent; all
   * steps run, and the first error is thrown.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Cleanup.runAll(
          Stream.of(
              () -> Cleanup.runAll(slots.stream().map(slot -> slot::releaseHost)),
              stream::synchronize,
              () -> Cleanup.runAll(slots.stream().map(slot -> slot::free)),
              stream::close,
              loader::close));
    }
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public String toString() {
    return "DeviceLoader[device %d, %s]".formatted(stream.device(), loader);
  }
}

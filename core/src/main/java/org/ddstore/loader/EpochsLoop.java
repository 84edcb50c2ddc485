// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.ddstore.sampling.EpochState;

/**
 * The batches of several epochs, for a single iteration. Each batch is valid until the next is
 * requested, or until the hook of its epoch runs. The loop may be left early.
 */
public final class EpochsLoop implements Iterable<LoadedBatch> {
  private final Loader loader;
  private final long epochs;
  private final EpochState from; // null to begin with the first epoch
  private LongConsumer hook; // null if none is set
  private Iterator<LoadedBatch> current; // null before the iteration
  private long epoch;

  EpochsLoop(Loader loader, int epochs, EpochState from) {
    if (epochs < 1) {
      throw new IllegalArgumentException("epochs %,d must be at least 1".formatted(epochs));
    }
    this.loader = loader;
    this.epochs = epochs;
    this.from = from;
    this.epoch = from == null ? 0 : from.epoch();
  }

  /**
   * Sets a function that runs on the consumer's thread after the last batch of each epoch, before
   * the next epoch begins. {@link Loader#receipt} and {@link Loader#utilisation()} are those of the
   * epoch that has ended; {@link Loader#state()} is the beginning of the next one, so that a
   * checkpoint saved in the hook is resumed behind it. A later call adds a function, which runs
   * after those before.
   *
   * @param function receives the number of the epoch; may call collectives
   * @return this loop
   */
  public EpochsLoop afterEpoch(LongConsumer function) {
    Objects.requireNonNull(function, "function is null");
    hook = hook == null ? function : hook.andThen(function);
    return this;
  }

  /** {@return the epoch of the batch returned last; before the first batch, that of the first} */
  public long epoch() {
    return epoch;
  }

  /** Returns the iterator; a second iteration continues where the first stopped. */
  @Override
  public Iterator<LoadedBatch> iterator() {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return advance();
      }

      @Override
      public LoadedBatch next() {
        if (!advance()) {
          throw new NoSuchElementException("the last epoch has no more batches");
        }
        return current.next();
      }
    };
  }

  /** Ends epochs that have no more batches; returns false at the end of the last one. */
  private boolean advance() {
    if (current == null && epoch < epochs) {
      EpochLoop first = from == null ? loader.epoch(0) : loader.resume(from);
      current = first.iterator();
    }
    while (epoch < epochs && !current.hasNext()) {
      loader.completed();
      if (hook != null) {
        hook.accept(epoch);
      }
      epoch++;
      if (epoch < epochs) {
        current = loader.epoch(epoch).iterator();
      }
    }
    return epoch < epochs;
  }
}

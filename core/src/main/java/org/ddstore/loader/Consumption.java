// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.ReduceOp;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.WorldRank;

/**
 * The position of a loader's consumer and the times of its loop. Used by the consumer's thread,
 * apart from {@link #clock()}.
 */
final class Consumption {
  private final Variable variable;
  private final BatchSampler sampler;
  private final WorldRank place;
  private final LoaderOptions options;
  private final Delivery delivery;
  private final LoopClock clock = new LoopClock();
  private EpochProgress progress; // null before the first epoch
  private boolean completed;
  private boolean hasPushed;

  Consumption(
      Variable variable,
      BatchSampler sampler,
      WorldRank place,
      LoaderOptions options,
      Delivery delivery) {
    this.variable = variable;
    this.sampler = sampler;
    this.place = place;
    this.options = options;
    this.delivery = delivery;
  }

  EpochProgress begin(long rows, long number, long batches, long from) {
    progress = new EpochProgress(sampler, place, rows, number, batches, from);
    completed = false;
    clock.begin();
    return progress;
  }

  /** Records that samples were pushed, whose position no state records. */
  void pushed() {
    hasPushed = true;
  }

  EpochProgress begun(Loader loader) {
    if (progress == null) {
      throw new IllegalStateException("no epoch was begun on " + loader);
    }
    return progress;
  }

  /** Records that the consumer requests a batch, or has ended the epoch. */
  void asked() {
    clock.asked(System.nanoTime());
  }

  /** Records that the consumer received a batch. */
  void delivered(long[] samples, int size, int padding) {
    clock.received(System.nanoTime());
    if (progress != null) {
      progress.delivered(samples, size, padding);
    }
  }

  /** Moves the position from the end of the epoch to the beginning of the next one. */
  void completed() {
    completed = true;
  }

  /** Rejects a state of other rows or of another configuration. */
  void checkSame(EpochState state) {
    state.checkSame(stateAt(0, 0, variable.rows()));
  }

  EpochState state(Loader loader) {
    if (progress == null && hasPushed) {
      throw new IllegalStateException(
          "no epoch was begun on %s, and a state does not record the position in pushed samples"
              .formatted(loader));
    }
    if (progress == null) {
      return stateAt(0, 0, variable.rows());
    }
    return completed
        ? stateAt(progress.epoch() + 1, 0, progress.rows())
        : stateAt(progress.epoch(), progress.done(), progress.rows());
  }

  private EpochState stateAt(long epoch, long batch, long rows) {
    return new EpochState(
        epoch,
        batch,
        rows,
        variable.version(),
        sampler.describe(place.world()),
        EpochState.digestOf(variable.schema()),
        options.digest(),
        delivery);
  }

  LoopClock clock() {
    return clock;
  }

  double utilisation() {
    return clock.utilisation();
  }

  /** Returns the mean of the ranks and epochs. Collective. */
  double utilisation(Communicator communicator) {
    double[] totals = clock.totals();
    communicator.allReduce(totals, ReduceOp.SUM);
    return totals[1] == 0 ? 0 : totals[0] / totals[1];
  }
}

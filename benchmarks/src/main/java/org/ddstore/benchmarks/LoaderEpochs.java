// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.util.OptionalLong;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.loader.Stage;

/** A reader of epochs by the loader; its time includes the choice of the rows of each batch. */
final class LoaderEpochs implements EpochReader {
  private final Communicator ranks;
  private final Loader loader;
  private long epoch;

  LoaderEpochs(EpochPlan plan, Communicator ranks, Variable rows) {
    this.ranks = ranks;
    this.loader =
        Loader.open(rows, plan.batches(), plan.place(ranks.rank()), LoaderOptions.defaults());
  }

  @Override
  public EpochWay way() {
    return EpochWay.LOADER;
  }

  @Override
  public void prepare(long number) {
    epoch = number;
  }

  @Override
  public void read(Consumer consumer) {
    for (LoadedBatch batch : loader.epoch(epoch)) {
      consumer.take((int) batch.number(), batch.field(PatternRows.FIELD).asByteBuffer());
    }
  }

  /** Checks the receipt of the epoch. Collective. */
  @Override
  public boolean isExact() {
    return loader.receipt(ranks).isExact();
  }

  @Override
  public OptionalLong waitedNanos() {
    return OptionalLong.of(loader.statistics().get(Stage.TRAINER_WAITS.index()).totalNanos());
  }

  @Override
  public void close() {
    loader.close();
  }
}

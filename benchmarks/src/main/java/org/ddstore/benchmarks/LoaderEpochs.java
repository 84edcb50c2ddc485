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
final class LoaderEpochs extends EpochReader {
  private final Communicator ranks;
  private final Loader loader;
  private long epoch;

  LoaderEpochs(EpochPlan plan, Communicator ranks, Variable rows) {
    super(plan, ranks.rank(), EpochWay.LOADER);
    this.ranks = ranks;
    this.loader =
        Loader.open(rows, plan.batches(), plan.worldRank(ranks.rank()), LoaderOptions.defaults());
  }

  @Override
  void prepare(long number) {
    epoch = number;
  }

  @Override
  void read(Consumer consumer) {
    for (LoadedBatch batch : loader.epoch(epoch)) {
      consumer.take((int) batch.number(), batch.field(PatternRows.FIELD).asByteBuffer());
    }
  }

  /** Checks the receipt of the epoch. Collective. */
  @Override
  boolean isExact() {
    return loader.receipt(ranks).isExact();
  }

  @Override
  OptionalLong waitedNanos() {
    return OptionalLong.of(loader.statistics().get(Stage.TRAINER_WAITS.index()).totalNanos());
  }

  @Override
  public void close() {
    loader.close();
  }
}

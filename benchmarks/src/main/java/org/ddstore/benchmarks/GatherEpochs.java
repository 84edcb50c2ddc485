// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;

/** The baseline: reads batches whose rows are known in advance, always into the same memory. */
final class GatherEpochs extends EpochReader {
  private final Reader reader;
  private final Batch batch;

  GatherEpochs(EpochPlan plan, int rank, Variable rows) {
    super(plan, rank, EpochWay.GATHER);
    this.reader = rows.reader();
    this.batch = reader.getBatch();
  }

  @Override
  void read(Consumer consumer) {
    for (int number = 0; number < order.length; number++) {
      reader.getBatch(batch, order[number]);
      consumer.take(number, batch.field(PatternRows.FIELD).asByteBuffer());
    }
  }

  @Override
  public void close() {
    batch.close();
    reader.close();
  }
}

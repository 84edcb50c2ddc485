// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.SplittableRandom;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.RankTask;

/** Reads of rows, by ranks and by readers, compared with the versions that they may find. */
final class RowChecks {
  private static final int BATCH = 64;
  private static final int EPOCH_BATCH = 32;

  private RowChecks() {}

  /** Compares random batches. */
  static void random(Variable rows, long seed, int batches, Observation found) {
    found.number("rows", Version::rows, rows.rows());
    if (rows.rows() == 0) {
      return;
    }
    SplittableRandom random = new SplittableRandom(seed);
    try (Reader reader = rows.reader(Version.FIELDS)) {
      for (int i = 0; i < batches; i++) {
        long[] indices = random.longs(BATCH, 0, rows.rows()).toArray();
        try (Batch batch = reader.getBatch(indices)) {
          for (int row = 0; row < indices.length; row++) {
            found.row(
                row(
                    indices[row],
                    row,
                    batch.field("content"),
                    batch.field("position"),
                    batch.field("value"),
                    batch.field("x"),
                    batch.string("text", row)));
          }
        }
      }
    }
  }

  private static Version.Read row(
      long index, int row, Tensor content, Tensor position, Tensor value, Tensor x, String text) {
    return new Version.Read(
        index,
        content.getLong(row),
        position.getLong(row),
        value.getLong(row),
        x.getFloat(2L * row),
        x.getFloat(2L * row + 1),
        text);
  }

  /** Random batches on each rank, which meet after some of them. */
  record RandomReads(Observation nothing, long seed, int rounds, int batches)
      implements RankTask<Observation> {
    private static final long serialVersionUID = 1L;

    @Override
    public Observation run(RankContext context) {
      Observation all = nothing.copy();
      for (int round = 0; round < rounds; round++) {
        long choices = seed + 31L * context.rank() + 1009L * round;
        random(context.rows(), choices, batches, all);
        context.communicator().barrier();
      }
      return all;
    }
  }

  /** An epoch of the loader, with its receipt. */
  record Epoch(Observation nothing, long seed) implements RankTask<Observation> {
    private static final long serialVersionUID = 1L;

    @Override
    public Observation run(RankContext context) {
      Observation found = nothing.copy();
      found.number("rows", Version::rows, context.rows().rows());
      try (Loader loader =
          context.loader(Samplers.shuffled(seed).batchSize(EPOCH_BATCH).everySample())) {
        for (LoadedBatch batch : loader.epoch(seed & 7)) {
          try (batch) {
            for (int row = 0; row < batch.rows(); row++) {
              found.rowOnce(
                  RowChecks.row(
                      batch.row(row),
                      row,
                      batch.field("content"),
                      batch.field("position"),
                      batch.field("value"),
                      batch.field("x"),
                      batch.string("text", row)));
            }
          }
        }
        CoverageReceipt receipt = loader.receipt(context.communicator());
        if (!receipt.isExact()) {
          found.wrong("receipt of the epoch: " + receipt);
        }
      }
      return found;
    }
  }
}

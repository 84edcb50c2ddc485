// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.storage.StorageLevel;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.spark.task.PartitionJob;
import scala.collection.Iterator;

/**
 * The epochs of {@link EpochBench} by Spark alone: joins the order with Parquet files or with
 * cached rows, splits the result by it into one partition per rank, and sorts; each partition
 * copies its rows into batches. The partitions are only approximately equal.
 */
final class ParquetEpochs {
  private final SparkSession session;
  private final EpochPlan plan;
  private final PatternRows pattern;
  private final int rowBytes;
  private final Dataset<Row> stored;

  /** The rows read by a partition. */
  private record Part(long rows, long mismatches) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  private ParquetEpochs(EmbeddedSpark spark, EpochPlan plan, EpochWay way) throws IOException {
    int bytes = plan.rowBytes().get(0);
    this.session = spark.session();
    this.plan = plan;
    this.pattern = new PatternRows(bytes);
    this.rowBytes = bytes;
    PatternRows written = pattern; // captured by the function instead of this
    session.udf().register("patternRow", (UDF1<Long, byte[]>) written::row, DataTypes.BinaryType);
    String path = spark.scratch(way.toString()).resolve(bytes + ".parquet").toUri().toString();
    session
        .range(0, plan.rows(), 1, plan.ranks())
        .selectExpr("id", "patternRow(id) as row")
        .write()
        .parquet(path);
    this.stored = session.read().parquet(path);
    if (way == EpochWay.CACHE) {
      stored.persist(StorageLevel.MEMORY_ONLY()).count();
    }
  }

  /**
   * Writes the files, checks one epoch, and measures one epoch per round.
   *
   * @param plan plan of one row size
   * @param way {@link EpochWay#PARQUET} or {@link EpochWay#CACHE}
   * @param gatherMicros time per row of the raw gather of that row size, in microseconds
   */
  static EpochResult measure(EmbeddedSpark spark, EpochPlan plan, EpochWay way, double gatherMicros)
      throws IOException {
    ParquetEpochs epochs = new ParquetEpochs(spark, plan, way);
    Part compared = epochs.read(0, true);
    DescriptiveStatistics seconds = new DescriptiveStatistics();
    for (int round = 1; round <= plan.rounds(); round++) {
      long start = System.nanoTime();
      epochs.read(round, false);
      seconds.addValue((double) (System.nanoTime() - start) / TimeUnit.SECONDS.toNanos(1));
    }
    epochs.stored.unpersist(true);
    return EpochResult.of(
        plan,
        way,
        seconds.getValues(),
        gatherMicros,
        null,
        compared.mismatches() + Math.abs(plan.epochRows() - compared.rows()));
  }

  private Part read(long epoch, boolean compares) {
    EpochTurns turns = new EpochTurns(plan, epoch);
    String function = "rowOfTurn" + epoch;
    session.udf().register(function, (UDF1<Long, Long>) turns::row, DataTypes.LongType);
    Dataset<Row> inOrder =
        session
            .range(0, plan.epochRows(), 1, plan.ranks())
            .selectExpr("id as turn", function + "(id) as id")
            .join(stored, "id")
            .select("turn", "row")
            .repartitionByRange(plan.ranks(), functions.col("turn"))
            .sortWithinPartitions("turn");
    Batches batches = new Batches(turns, pattern, rowBytes, plan.batch(), compares);
    return PartitionJob.of(inOrder.queryExecution().toRdd(), batches::of).run().stream()
        .reduce(
            new Part(0, 0),
            (a, b) -> new Part(a.rows() + b.rows(), a.mismatches() + b.mismatches()));
  }

  /** The function that builds the batches of a partition. Sent to executors. */
  private record Batches(
      EpochTurns turns, PatternRows pattern, int rowBytes, int batch, boolean compares)
      implements Serializable {
    private static final long serialVersionUID = 1L;

    Part of(Iterator<InternalRow> sorted) {
      ByteBuffer target =
          ByteBuffer.allocateDirect(batch * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
      long rows = 0;
      long mismatches = 0;
      long lastTurn = -1;
      while (sorted.hasNext()) {
        InternalRow row = sorted.next();
        int at = (int) (rows++ % batch) * rowBytes;
        target.put(at, row.getBinary(1));
        if (compares) {
          long turn = row.getLong(0);
          boolean right = turn > lastTurn && pattern.matches(turns.row(turn), target, at);
          mismatches += right ? 0 : 1;
          lastTurn = turn;
        }
      }
      return new Part(rows, mismatches);
    }
  }

  /**
   * The row order of an epoch, concatenated over ranks: the rows of the batches of rank 0, then
   * those of rank 1, and so on. Fast for consecutive turns. Thread-safe.
   */
  private static final class EpochTurns implements Serializable {
    private static final long serialVersionUID = 1L;

    private final EpochPlan plan;
    private final long epoch;
    private transient int rank;
    private transient long number;
    private transient EpochBatches batches;
    private transient long[] rows;

    EpochTurns(EpochPlan plan, long epoch) {
      this.plan = plan;
      this.epoch = epoch;
    }

    /** Returns the row of a turn in [0, {@link EpochPlan#epochRows()}). */
    synchronized long row(long turn) {
      long turnsPerRank = plan.steps() * plan.batch();
      int turnRank = (int) (turn / turnsPerRank);
      long batchNumber = turn % turnsPerRank / plan.batch();
      if (batches == null || rank != turnRank) {
        batches = plan.batches().epoch(plan.rows(), plan.worldRank(turnRank), epoch);
        rank = turnRank;
        rows = null;
      }
      if (rows == null || number != batchNumber) {
        rows = new long[plan.batch()];
        batches.fill(batchNumber, rows);
        number = batchNumber;
      }
      return rows[(int) (turn % plan.batch())];
    }
  }
}

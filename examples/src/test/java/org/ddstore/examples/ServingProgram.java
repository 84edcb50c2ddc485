// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankTask;

/**
 * An application whose ranks read what remote users write: Spark Connect's plugin serves them in
 * its driver. Runs until its process is told to end.
 */
public final class ServingProgram {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private ServingProgram() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException, IOException {
    try (SparkSession spark = SparkSession.builder().getOrCreate()) {
      DDStores.from(spark.range(100).toDF()).ranks(2).load("local");
      awaitThat(() -> exists(spark, "remote"));
      spark
          .createDataset(DDStores.open(spark, "remote").run(sum()), Encoders.LONG())
          .toDF("sum")
          .write()
          .format("ddstore")
          .option("ranks", 1)
          .save("sums");
      new CountDownLatch(1).await();
    }
  }

  /** Returns a task in which each rank sums the ids of all rows. */
  private static RankTask<Long> sum() {
    return rank -> {
      long[] all = LongStream.range(0, rank.rows().rows()).toArray();
      try (Reader reader = rank.rows().reader("id");
          Batch batch = reader.getBatch(all)) {
        Tensor ids = batch.field("id");
        return LongStream.of(all).map(ids::getLong).sum();
      }
    };
  }

  private static boolean exists(SparkSession spark, String name) {
    return DDStores.list(spark).stream().anyMatch(store -> store.name().equals(name));
  }

  private static void awaitThat(BooleanSupplier condition) throws InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadlineNs) {
        throw new IllegalStateException("no remote user has done its step in " + LIMIT);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }
}

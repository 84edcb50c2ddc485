// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankTask;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.monitor.StatisticsJson;

/** An application with two executors, whose tab a test opens. Ends with its standard input. */
public final class TabProgram {
  static final int ROWS = 20_000;
  private static final int EPOCHS = 40;
  private static final int BATCH = 100;

  private TabProgram() {}

  /**
   * Loads a store, reads it by loaders, prints the handle of a grant, the address of Spark's UI,
   * and for each line of its input the statistics of the store as JSON.
   *
   * @param arguments class path of the executors, and settings: {@code name=value}
   */
  public static void main(String[] arguments) throws IOException {
    SparkConf settings =
        new SparkConf()
            .setMaster("local-cluster[2,2,1024]")
            .setAppName("tab <script>alert(1)</script>")
            .set("spark.executor.extraClassPath", arguments[0])
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1")
            .set("spark.ui.port", "0");
    for (String setting : List.of(arguments).subList(1, arguments.length)) {
      String[] parts = setting.split("=", 2);
      settings.set(parts[0], parts[1]);
    }
    try (SparkSession spark = SparkSession.builder().config(settings).getOrCreate()) {
      ResidentStore store =
          DDStores.from(spark.range(ROWS).selectExpr("id", "array(float(id), 1f, 2f, 3f) AS x"))
              .ranks(4)
              .load("train");
      store.run(training());
      System.out.println("HANDLE " + store.grant("notebook", Duration.ofHours(1)).toJson());
      System.out.println("UI " + spark.sparkContext().uiWebUrl().get());
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (in.readLine() != null) {
        System.out.println("STATISTICS " + StatisticsJson.of(store.statistics()));
      }
    }
  }

  /** Returns a training that does nothing with its batches. */
  private static RankTask<Long> training() {
    return rank -> {
      long samples = 0;
      LoaderOptions options = LoaderOptions.defaults().fields("x");
      try (Loader loader = rank.loader(Samplers.shuffled(1).globalBatchSize(4 * BATCH), options)) {
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
          for (var batch : loader.epoch(epoch)) {
            samples += batch.samples();
          }
        }
      }
      return samples;
    };
  }
}

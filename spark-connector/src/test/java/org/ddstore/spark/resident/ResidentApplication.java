// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.ddstore.Batch;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;
import org.ddstore.types.Backing;

/**
 * An application that ends with live stores. Arguments: how it ends ({@code stop}, {@code exit} or
 * {@code killed}), and a directory for its notes. Started by {@link ResidentApplicationTest}.
 */
final class ResidentApplication {
  static final int ROWS = 100_000;
  static final String STORE = "shared";

  private ResidentApplication() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path directory = Path.of(arguments[1]);
    Evidence evidence = new Evidence(directory);
    TestCluster cluster = TestCluster.start(2, 1, 1024);
    StoreSpec spec = DDStores.from(cluster.session().range(ROWS).toDF()).ranks(2);
    ResidentStore shared = spec.load(STORE);
    spec.backing(Backing.DIRECT).load("direct");
    shared.append(cluster.session().range(10).toDF());
    shared.handle().save(directory.resolve("handle"));
    Set<Long> executors = cluster.executors();
    try (StoreReader reader = shared.handle().attach();
        Batch batch = reader.store().getBatch("rows", 0, ROWS - 1, ROWS + 9)) {
      if (batch.field("id").getLong(1) != ROWS - 1 || batch.field("id").getLong(2) != 9) {
        throw new AssertionError("wrong rows");
      }
      evidence.note("executors", executors.toString().replaceAll("[\\[\\] ]", ""));
      switch (arguments[0]) {
        case "stop" -> cluster.session().stop();
        case "exit" -> System.exit(0);
        default -> Evidence.waitForInterrupt();
      }
    }
    System.exit(0); // Spark's threads must not keep this process
  }
}

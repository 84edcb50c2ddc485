// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;

/**
 * A driver in whose mount namespace /dev/shm is small. Runs one load after the other and prints for
 * each a line {@code <name>: <what happened>}, then what is left. Started by {@link
 * SmallSharedMemoryOnExecutorsTest}.
 */
public final class SmallSharedMemoryMain {
  /** 256 bytes a row. */
  private static final long ROWS = 100_000;

  private final TestCluster cluster;
  private final Path directory;

  private SmallSharedMemoryMain(TestCluster cluster, Path directory) {
    this.cluster = cluster;
    this.directory = directory;
  }

  /** Argument: an empty directory on a disk. */
  public static void main(String[] arguments) throws Exception {
    Set<Long> before;
    try (TestCluster cluster = TestCluster.start(2, 1, 1024)) {
      SmallSharedMemoryMain scenario = new SmallSharedMemoryMain(cluster, Path.of(arguments[0]));
      cluster.inEverySlot(rows -> 0); // all executors are there
      before = cluster.executors();
      scenario.run();
      Set<Long> lost = new HashSet<>(before);
      lost.removeAll(cluster.executors());
      print("executors lost", lost);
      cluster.assertNothingLeft();
    }
    try (Stream<Path> left = Files.walk(Path.of("/dev/shm"))) {
      print("left in /dev/shm", left.skip(1).toList());
    }
    // Spark's threads must not keep this process.
    System.exit(0);
  }

  private void run() {
    load("checked", spec(fixed()));
    load("ragged checked", spec(ragged()));
    load("unchecked", unchecked(fixed()));
    load("ragged unchecked", unchecked(ragged()));
    load("to files", unchecked(fixed()).files(directory));
  }

  private StoreSpec unchecked(Dataset<Row> frame) {
    cluster.session().conf().set("spark.ddstore.checkMemory", "false");
    try {
      return spec(frame);
    } finally {
      cluster.session().conf().unset("spark.ddstore.checkMemory");
    }
  }

  private static StoreSpec spec(Dataset<Row> frame) {
    return DDStores.from(frame).ranks(2).maxAttempts(2);
  }

  private Dataset<Row> fixed() {
    return cluster.session().range(ROWS).selectExpr("array_repeat(float(id), 64) as x");
  }

  private Dataset<Row> ragged() {
    return cluster.session().range(ROWS).selectExpr("repeat('x', 300) as text");
  }

  private static void load(String name, StoreSpec spec) {
    try {
      List<Integer> results =
          spec.run(
              context -> {
                try (Reader reader = context.rows().reader();
                    Batch batch = reader.getBatch(ROWS - 1, 7)) {
                  return (int) batch.field("x").toFloatArray()[0] + context.attempt();
                }
              });
      print(name, results);
    } catch (RuntimeException e) {
      print(name, e.getClass().getSimpleName() + ": " + e.getMessage().replace('\n', ' '));
    }
  }

  private static void print(String name, Object what) {
    System.out.println(name + ": " + what);
  }

  public static Map<String, String> parse(String output) {
    Map<String, String> lines = new HashMap<>();
    output
        .lines()
        .filter(line -> line.contains(": "))
        .forEach(
            line -> {
              int at = line.indexOf(": ");
              lines.put(line.substring(0, at), line.substring(at + 2));
            });
    return lines;
  }
}

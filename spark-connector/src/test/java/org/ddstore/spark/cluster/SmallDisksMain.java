// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.TestCluster;

/**
 * A driver in whose mount namespace /dev/shm and other disks are small, or cannot be written to.
 * Fills each by each writer and prints a line {@code <name>: <what happened>}, then what is left.
 * Started by {@link SmallDisksOnExecutorsTest}.
 */
public final class SmallDisksMain {
  /** 256 bytes a row. */
  private static final long ROWS = 100_000;

  /** 10 MB of /dev/shm, which holds one such store and not two. */
  private static final long ROWS_OF_A_STORE = 40_000;

  /** 2 MB. */
  private static final long ROWS_OF_A_SMALL_STORE = 8_000;

  private final TestCluster cluster;
  private final Path disk;
  private final Path small;
  private final Path readOnly;

  private SmallDisksMain(TestCluster cluster, Path directory) {
    this.cluster = cluster;
    this.disk = directory.resolve("disk");
    this.small = directory.resolve("small");
    this.readOnly = directory.resolve("readonly");
  }

  /** Argument: the directory that the other disks are mounted below. */
  public static void main(String[] arguments) throws Exception {
    try (TestCluster cluster = TestCluster.start(2, 1, 1024)) {
      SmallDisksMain scenario = new SmallDisksMain(cluster, Path.of(arguments[0]));
      cluster.inEverySlot(rows -> 0); // all executors are there
      Set<Long> before = cluster.executors();
      scenario.runs();
      scenario.resident();
      scenario.spill();
      Set<Long> lost = new HashSet<>(before);
      lost.removeAll(cluster.executors());
      print("executors lost", lost);
      cluster.assertNothingLeft();
    }
    print("left in /dev/shm", below(Path.of("/dev/shm")));
    // Spark's threads must not keep this process.
    System.exit(0);
  }

  private void runs() throws IOException {
    load("checked", spec(fixed(ROWS)));
    load("ragged checked", spec(ragged()));
    load("unchecked", spec(fixed(ROWS)).checkMemory(false));
    load("ragged unchecked", spec(ragged()).checkMemory(false));
    load("to files", spec(fixed(ROWS)).checkMemory(false).files(disk));
    load("to full disk", spec(fixed(ROWS)).checkMemory(false).files(small));
    load("to full disk, checked", spec(fixed(ROWS)).files(small));
    load("to a disk that cannot be written to", spec(fixed(ROWS)).files(readOnly));
    print("left on the full disk", below(small));
  }

  /** A store that is half of /dev/shm, which nothing that fails must harm. */
  private void resident() throws IOException {
    ResidentStore store = spec(fixed(ROWS_OF_A_STORE)).checkMemory(false).load("kept");
    tell("append", () -> append(store));
    tell("insert", () -> write(Map.of(), "append", "kept"));
    tell("replace", () -> store.replace(fixed(ROWS_OF_A_STORE)));
    tell("write, checked", () -> write(Map.of("ranks", "2"), "overwrite", "other"));
    cluster.session().conf().set("spark.ddstore.checkMemory", "false");
    tell("write", () -> write(Map.of("ranks", "2"), "overwrite", "other"));
    cluster.session().conf().unset("spark.ddstore.checkMemory");
    tell("dump", () -> store.dump(small.resolve("dump").toString()));
    tell("dump to a disk that cannot be written to", () -> store.dump(readOnly + "/dump"));
    print("files of dumps", below(small));
    String dump = disk.resolve("dump").toString();
    store.dump(dump);
    tell("restore", () -> DDStores.restore(cluster.session(), dump).checkMemory(false).load("two"));
    print("stores", DDStores.list(cluster.session()).stream().map(ResidentStore::name).toList());
    try (StoreReader reader = store.handle().attach();
        Batch batch = reader.store().getBatch("rows", ROWS_OF_A_STORE - 1)) {
      print("kept", store.rows() + " rows, " + batch.field("x").toFloatArray()[63]);
    }
    store.drop();
  }

  private Object append(ResidentStore store) {
    store.append(fixed(ROWS_OF_A_STORE));
    return store;
  }

  private Object write(Map<String, String> options, String mode, String name) {
    fixed(ROWS_OF_A_STORE).write().format("ddstore").mode(mode).options(options).save(name);
    return name;
  }

  /** Spark's own disk is full while it sorts; the next load sorts again. */
  private void spill() {
    tell("sort", () -> spec(random(ROWS)).files(disk).orderBy("i").load("sorted"));
    tell(
        "smaller sort",
        () -> {
          ResidentStore store = spec(random(ROWS_OF_A_SMALL_STORE)).orderBy("i").load("sorted");
          long rows = store.rows();
          store.drop();
          return rows;
        });
  }

  private static StoreSpec spec(Dataset<Row> frame) {
    return DDStores.from(frame).ranks(2).maxAttempts(2);
  }

  private Dataset<Row> fixed(long rows) {
    return cluster.session().range(rows).selectExpr("array_repeat(float(id), 64) as x");
  }

  /** Incompressible. */
  private Dataset<Row> random(long rows) {
    return cluster
        .session()
        .range(rows)
        .selectExpr("-id as i", "transform(sequence(1, 32), k -> xxhash64(id, k)) as x");
  }

  private Dataset<Row> ragged() {
    return cluster.session().range(ROWS).selectExpr("repeat('x', 300) as text");
  }

  private static void load(String name, StoreSpec spec) {
    tell(
        name,
        () ->
            spec.run(
                context -> {
                  try (Reader reader = context.rows().reader();
                      Batch batch = reader.getBatch(ROWS - 1, 7)) {
                    return (int) batch.field("x").toFloatArray()[0] + context.attempt();
                  }
                }));
  }

  private static void tell(String name, Callable<?> action) {
    try {
      print(name, action.call());
    } catch (Exception e) {
      print(name, e.getClass().getSimpleName() + ": " + e.getMessage().replace('\n', ' '));
    }
  }

  private static void print(String name, Object what) {
    System.out.println(name + ": " + what);
  }

  private static List<Path> below(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.skip(1).toList();
    }
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

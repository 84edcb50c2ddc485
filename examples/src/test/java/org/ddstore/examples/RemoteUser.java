// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.source.PlainRows;
import org.ddstore.spark.source.RoundTripProgram;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A program of a remote user. Its class path has the client of Spark Connect and the classes of
 * tests, but neither Spark nor the runtime jar. It computes the rows that it expects itself, and
 * throws if a store has others.
 */
public final class RemoteUser implements AutoCloseable {
  /** Number of rows that {@code load} loads. */
  static final int ROWS = 1_000;

  static final String SEPARATOR = "\t";
  static final String DONE = "== done";
  static final String FAILED = "== failed";

  private static final String FORMAT = "ddstore";
  private static final long SEED = 42;
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final StructType SCHEMA =
      new StructType()
          .add("id", DataTypes.LongType, false)
          .add("text", DataTypes.StringType, false)
          .add("features", DataTypes.createArrayType(DataTypes.FloatType, false), false);

  private final String address;
  private final SparkSession spark;

  private RemoteUser(String address) {
    this.address = address;
    this.spark = session();
  }

  /**
   * Takes the address with the name of the user, a step, and the arguments of the step. Without
   * arguments, reads them from lines of standard input, separated by {@link #SEPARATOR}, and prints
   * {@link #DONE} or {@link #FAILED} after the output of each.
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      run(arguments);
      return;
    }
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      try {
        run(line.split(SEPARATOR, -1));
        System.out.println(DONE);
      } catch (Throwable e) {
        e.printStackTrace();
        System.out.println(FAILED);
      }
    }
    System.exit(0); // whatever threads a failed step has left
  }

  private static void run(String[] arguments) throws Exception {
    try (RemoteUser user = new RemoteUser(arguments[0])) {
      user.run(arguments[1], List.of(arguments).subList(2, arguments.length));
    }
  }

  /**
   * The server of the tests has no MLlib, which it needs to close a session: the client prints the
   * error and continues.
   */
  @Override
  public void close() throws IOException {
    spark.close();
  }

  private SparkSession session() {
    return SparkSession.builder().remote(address).create();
  }

  private void run(String step, List<String> arguments) throws Exception {
    switch (step) {
      case "round-trip" -> RoundTripProgram.run(spark, ROWS);
      case "load" -> load(arguments.get(0));
      case "check" -> checkStore(arguments.get(0));
      case "statements" -> arguments.forEach(this::printResult);
      case "writers" -> writeByEveryCall();
      case "sessions" -> appendInSessions(arguments.get(0));
      case "own-class" -> useOwnClass();
      case "kept" -> readKeptFrames();
      case "interrupt" -> interrupt(Path.of(arguments.get(0)));
      case "vanish" -> vanish(Path.of(arguments.get(0)));
      case "ranks" -> writeForRanks();
      default -> throw new IllegalArgumentException("unknown step " + step);
    }
  }

  private void printResult(String statement) {
    printResult(() -> spark.sql(statement));
  }

  /** Prints the rows or the error of a query on one line. */
  private static void printResult(Callable<Dataset<Row>> query) {
    try {
      System.out.println(PlainRows.of(query.call().collectAsList()));
    } catch (Exception e) {
      System.out.println(
          e.getClass().getSimpleName() + ": " + e.getMessage().strip().replaceAll("\\s+", " "));
    }
  }

  private static List<Float> features(long id) {
    return List.of((float) id, (float) -id, id / 3f);
  }

  /** Loads rows from the memory of this process, in another order than that of the store. */
  private void load(String name) {
    List<Row> rows = new ArrayList<>();
    for (long id = 0; id < ROWS; id++) {
      rows.add(
          RowFactory.create(id, "row " + id, CollectionConverters.asScala(features(id)).toList()));
    }
    Collections.shuffle(rows, new Random(SEED));
    spark
        .createDataFrame(rows, SCHEMA)
        .write()
        .format(FORMAT)
        .options(Map.of("ranks", "3", "orderBy", "id", "type.features", "float32[3]"))
        .save(name);
  }

  private void checkStore(String name) {
    Dataset<Row> all = spark.read().format(FORMAT).load(name);
    checkRows(all.orderBy("id"), LongStream.range(0, ROWS));
    check(all.count() == ROWS, "wrong count");
    long[] some = new Random(SEED).longs(100, 0, ROWS).distinct().sorted().toArray();
    String list = LongStream.of(some).mapToObj(Long::toString).collect(Collectors.joining(","));
    checkRows(
        spark.sql(
            "SELECT * FROM ddstore.%s WHERE __index IN (%s) ORDER BY id".formatted(name, list)),
        LongStream.of(some));
    Dataset<Row> indexed = spark.read().format(FORMAT).option("indexColumn", "i").load(name);
    check(indexed.where("i <> id").isEmpty(), "rows are not in the order of option orderBy");
    List<Long> drawn = ids(spark.read().format(FORMAT).option("sample", 10).load(name));
    check(drawn.stream().distinct().count() == 10, "wrong sample: " + drawn);
  }

  private static void checkRows(Dataset<Row> rows, LongStream ids) {
    List<Object> expected = new ArrayList<>();
    ids.forEach(id -> expected.add(List.of(id, "row " + id, features(id))));
    List<Object> found = PlainRows.of(rows.collectAsList());
    check(found.equals(expected), "rows are missing or wrong: " + found);
  }

  private static List<Long> ids(Dataset<Row> rows) {
    return rows.select("id").collectAsList().stream().map(row -> row.getLong(0)).toList();
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalStateException(problem);
    }
  }

  private void writeByEveryCall() throws Exception {
    Dataset<Row> ten = spark.range(10).toDF();
    ten.writeTo("ddstore.calls").option("ranks", "2").create();
    checkCalls(10);
    ten.writeTo("ddstore.calls").append();
    checkCalls(20);
    ten.write().insertInto("ddstore.calls");
    checkCalls(30);
    ten.write().mode("append").saveAsTable("ddstore.calls");
    checkCalls(40);
    ten.limit(3).writeTo("ddstore.calls").createOrReplace();
    checkCalls(3);
    spark.sql("CREATE OR REPLACE TABLE ddstore.calls AS SELECT id FROM range(7)");
    checkCalls(7);
    ten.write().mode("overwrite").saveAsTable("ddstore.calls");
    checkCalls(10);
    check(spark.catalog().tableExists("ddstore.calls"), "table is not in the catalog");
    printResult(() -> spark.catalog().listTables("ddstore").toDF());
    spark.sql("DROP TABLE ddstore.calls");
    check(!spark.catalog().tableExists("ddstore.calls"), "table is in the catalog");
    writeWithOptions();
  }

  private void writeWithOptions() {
    spark.sql(
        "CREATE TABLE ddstore.tokens OPTIONS (ranks 2, orderBy 'id', `fillNulls.age` '-1',"
            + " `type.tokens` 'int32[3]', `pad.tokens` '0', `truncate.tokens` 'true', decimals"
            + " 'int64') AS SELECT id, IF(id = 0, NULL, int(id)) AS age, sequence(1, int(1 + id))"
            + " AS tokens, CAST(id AS DECIMAL(10, 2)) AS price FROM range(4)");
    printResult("SELECT age, tokens, CAST(price AS STRING) FROM ddstore.tokens ORDER BY id");
    spark.sql("DROP TABLE ddstore.tokens");
  }

  private void checkCalls(int rows) {
    check(spark.table("ddstore.calls").count() == rows, "not %d rows".formatted(rows));
  }

  /** Appends in four sessions at once, of which the first one creates the store. */
  private void appendInSessions(String name) throws ExecutionException, InterruptedException {
    int sessions = 4;
    long each = 30; // in three appends
    ExecutorService threads = Executors.newFixedThreadPool(sessions);
    List<Callable<Void>> writers = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      long first = i * each;
      writers.add(
          () -> {
            try (SparkSession own = session()) {
              for (long id = first; id < first + each; id += 10) {
                append(own, name, id);
              }
            }
            return null;
          });
    }
    List<Future<Void>> ended = threads.invokeAll(writers);
    threads.shutdown();
    for (Future<Void> writer : ended) {
      writer.get();
    }
    List<Long> found = ids(spark.sql("SELECT id FROM ddstore.%s ORDER BY __index".formatted(name)));
    List<Long> expected = LongStream.range(0, sessions * each).boxed().toList();
    check(found.stream().sorted().toList().equals(expected), "ids are missing or twice: " + found);
    for (int i = 0; i < found.size(); i++) {
      boolean follows = i % 10 == 0 || found.get(i) == found.get(i - 1) + 1;
      check(follows, "rows of one append are not together: " + found);
    }
  }

  /** Appends ten rows, and reads them in the same session. */
  private static void append(SparkSession own, String name, long first) {
    own.range(first, first + 10).toDF().write().format(FORMAT).mode("append").save(name);
    Dataset<Row> all = own.read().format(FORMAT).load(name);
    check(all.where("id >= %d AND id < %d".formatted(first, first + 10)).count() == 10, "append");
  }

  /** A function of the client, in a class that it uploads. */
  static final class Increment implements UDF1<Long, Long> {
    private static final long serialVersionUID = 1;

    @Override
    public Long call(Long value) {
      return value + 1;
    }
  }

  private void upload(Class<?> type) {
    String file = type.getName().replace('.', '/') + ".class";
    Path root = Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
    spark.addArtifact(root.resolve(file).toString(), file);
  }

  /** Executors run tasks of a session with classes of its own in another class loader. */
  private void useOwnClass() throws IOException {
    upload(Increment.class);
    spark.udf().register("increment", new Increment(), DataTypes.LongType);
    SparkSession other = session();
    other.range(10).toDF().write().format(FORMAT).option("ranks", 2).save("others");
    spark.sql("CREATE TABLE ddstore.own AS SELECT increment(id) AS id FROM ddstore.others");
    spark.sql("INSERT INTO ddstore.others SELECT increment(id) FROM ddstore.own");
    other.sql("INSERT INTO ddstore.own SELECT id + 10 FROM ddstore.own");
    List<Long> ten = LongStream.range(0, 10).boxed().toList();
    for (SparkSession each : List.of(spark, other)) {
      List<Long> own = ids(each.table("ddstore.own").orderBy("__index"));
      check(own.equals(LongStream.rangeClosed(1, 20).boxed().toList()), "own: " + own);
      List<Long> others = ids(each.table("ddstore.others").orderBy("__index"));
      check(
          others.equals(Stream.concat(ten.stream(), ten.stream().map(id -> id + 2)).toList()),
          "others: " + others);
    }
    check(
        spark.sql("SELECT sum(increment(id)) FROM ddstore.own").first().getLong(0) == 230,
        "function of the client on rows of a store");
    other.sql("DROP TABLE ddstore.own");
    other.sql("DROP TABLE ddstore.others");
    other.close();
  }

  /** A DataFrame of the client follows the store, also if the server keeps its plan. */
  private void readKeptFrames() throws IOException {
    SparkSession other = session();
    Dataset<Row> ten = spark.range(10).toDF();
    ten.write().format(FORMAT).save("kept");
    Dataset<Row> loaded = other.read().format(FORMAT).load("kept");
    Dataset<Row> table = other.table("ddstore.kept");
    check(loaded.collectAsList().size() == 10, "loaded");
    check(table.collectAsList().size() == 10, "table");
    ten.write().format(FORMAT).mode("append").save("kept");
    check(loaded.collectAsList().size() == 20, "loaded after an append");
    check(table.collectAsList().size() == 20, "table after an append");
    ten.selectExpr("id", "-id AS minus").write().format(FORMAT).mode("overwrite").save("kept");
    check(table.collectAsList().get(0).size() == 2, "table after an overwrite");
    check(
        other.read().format(FORMAT).load("kept").collectAsList().get(0).size() == 2,
        "loaded anew after an overwrite");
    try {
      loaded.collectAsList();
      throw new IllegalStateException("rows of a store with other columns");
    } catch (IllegalArgumentException expected) {
      System.out.println(expected.getMessage());
    }
    other.sql("DROP TABLE ddstore.kept");
    other.close();
  }

  /** A function that creates a file, and never ends unless its task is interrupted. */
  static final class Blocked implements UDF1<Long, Long> {
    private static final long serialVersionUID = 1;
    static final String PREFIX = "blocked-";

    @Override
    public Long call(Long value) throws IOException, InterruptedException {
      File.createTempFile(PREFIX, null);
      new CountDownLatch(1).await();
      return value;
    }
  }

  /** Interrupts a load while the ranks compute rows, then uses its name and all slots. */
  private void interrupt(Path temporary) throws IOException, InterruptedException {
    Future<?> load = blockedLoad(temporary);
    System.out.println(spark.interruptTag("blocked").length() + " interrupted");
    try {
      load.get();
    } catch (ExecutionException e) {
      System.out.println(e.getCause().getMessage());
    }
    create("SELECT id FROM range(100)");
    check(spark.table("ddstore.blocked").count() == 100, "load after the interrupted one");
    spark.sql("DROP TABLE ddstore.blocked");
  }

  /** Ends this process during a load; the server is not told. */
  private void vanish(Path temporary) throws IOException, InterruptedException {
    check(!blockedLoad(temporary).isDone(), "the load has ended");
    Runtime.getRuntime().halt(0);
  }

  /** Starts a load whose rows never come, and waits for its first task. */
  private Future<?> blockedLoad(Path temporary) throws IOException, InterruptedException {
    upload(Blocked.class);
    spark.udf().register("blocked", new Blocked(), DataTypes.LongType);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (WatchService watch = FileSystems.getDefault().newWatchService()) {
      temporary.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      Future<?> load =
          thread.submit(
              () -> {
                spark.addTag("blocked"); // of operations of this thread
                return create("SELECT blocked(id) AS id FROM range(100)");
              });
      thread.shutdown();
      awaitFile(watch);
      return load;
    }
  }

  private Dataset<Row> create(String query) {
    return spark.sql("CREATE TABLE ddstore.blocked OPTIONS (ranks 4) AS " + query);
  }

  private static void awaitFile(WatchService watch) throws InterruptedException {
    boolean found = false;
    while (!found) {
      WatchKey key = watch.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
      check(key != null, "no task of the load has started");
      found =
          key.pollEvents().stream()
              .anyMatch(event -> String.valueOf(event.context()).startsWith(Blocked.PREFIX));
      key.reset();
    }
  }

  /** Takes the part of the remote user of {@link ServingProgram}. */
  private void writeForRanks() throws InterruptedException {
    awaitStore("local"); // the server accepts clients before the program loads it
    check(spark.table("ddstore.local").count() == 100, "store of the program");
    spark.sql("CREATE TABLE ddstore.remote OPTIONS (ranks 2) AS SELECT id FROM range(10)");
    awaitStore("sums");
    printResult("SELECT * FROM ddstore.sums");
    spark.sql("DROP TABLE ddstore.remote");
  }

  /** Waits until the program has written a store. */
  private void awaitStore(String name) throws InterruptedException {
    long deadlineNs = System.nanoTime() + LIMIT.toNanos();
    while (spark.sql("SHOW TABLES IN ddstore LIKE '%s'".formatted(name)).isEmpty()) {
      check(System.nanoTime() < deadlineNs, "no store \"%s\" of the program".formatted(name));
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }
}

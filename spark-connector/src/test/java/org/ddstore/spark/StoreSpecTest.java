// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.StoreInfo;
import org.ddstore.Tensor;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.collective.ReduceOp;
import org.ddstore.contract.NullArguments;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Store specs with all ranks in this JVM. */
@Timeout(300)
class StoreSpecTest {
  private static SparkSession spark;

  @TempDir Path directory;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    spark =
        SparkSession.builder()
            .master("local[4]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
            .getOrCreate();
    spark.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    TestCluster.stopOthers();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> Leftovers.ofThisProcess().assertNone());
  }

  @AfterEach
  void assertNothingLeft() throws IOException {
    Leftovers.ofThisProcess().withoutNetwork().assertNone();
    Leftovers.assertNoSharedMemoryOf(Set.of(ProcessHandle.current().pid()));
  }

  private static StoreSpec numbers(long rows) {
    return DDStores.from(
        spark
            .range(rows)
            .selectExpr("id", "array(float(id), float(-id)) as x", "concat('t', id) as t"));
  }

  /** In the types that users touch. */
  @Test
  void namesNullArguments() {
    StoreSpec spec = numbers(8).ranks(1);
    ResidentStore store = spec.load("nulls");
    try {
      nulls()
          .sample(Dataset.class, spark.range(1).toDF())
          .sample(SparkSession.class, spark)
          .sample(Serializable.class, 1)
          .sample(Number.class, 1)
          .sample(StoreSpec.class, spec)
          .sample(Runnable.class, () -> {})
          .sample(List.class, List.of(store))
          .sample(RankTask.class, (RankTask<Integer>) context -> 0)
          .sample(BatchFunction.class, (BatchFunction) () -> null)
          .sample(StructType.class, store.sourceSchema())
          .sample(Field.class, Field.fixed("x", DType.INT8))
          .callStatic(DDStores.class, FieldNotation.class)
          .call(spec, store, store.handle())
          .check();
    } finally {
      store.drop();
    }
    List<Boolean> named =
        spec.run(
            context -> {
              nulls()
                  .sample(BatchSampler.class, Samplers.sequential().batchSize(1))
                  .call(context)
                  .check();
              return true;
            });
    assertThat(named).containsExactly(true);
  }

  private static NullArguments nulls() {
    return new NullArguments()
        .sample(String.class, "x")
        .sample(Duration.class, Duration.ofSeconds(1))
        .sample(Path.class, Path.of("x"))
        .sample(LoaderOptions.class, LoaderOptions.defaults())
        .sample(CheckpointOptions.class, CheckpointOptions.defaults());
  }

  private static long sumOfIds(RankContext context) {
    long rows = context.rows().rows();
    long sum = 0;
    try (Reader reader = context.rows().reader()) {
      for (long i = 0; i < rows; i++) {
        try (Batch batch = reader.getBatch(i)) {
          sum += batch.field("id").getLong(0);
        }
      }
    }
    return sum;
  }

  @Test
  void everyRankReadsEveryRow() {
    List<Integer> rows =
        numbers(1000)
            .ranks(2)
            .run(
                context -> {
                  try (Reader reader = context.rows().reader()) {
                    for (int i = 0; i < 1000; i++) {
                      try (Batch batch = reader.getBatch(i)) {
                        assertThat(batch.field("id").getLong(0)).isEqualTo(i);
                        assertThat(batch.field("x").toFloatArray())
                            .containsExactly((float) i, (float) -i);
                        assertThat(batch.string("t", 0)).isEqualTo("t" + i);
                      }
                    }
                  }
                  return (int) context.rows().rows();
                });

    assertThat(rows).containsExactly(1000, 1000);
  }

  @Test
  void returnsResultsInRankOrder() {
    List<String> results =
        numbers(10)
            .ranks(3)
            .run(
                context ->
                    "%d/%d attempt %d on %s, rows %d"
                        .formatted(
                            context.rank(),
                            context.ranks(),
                            context.attempt(),
                            context.executorId(),
                            context.rows().localRows()));

    assertThat(results)
        .containsExactly(
            "0/3 attempt 1 on driver, rows 3",
            "1/3 attempt 1 on driver, rows 3",
            "2/3 attempt 1 on driver, rows 4");
  }

  @Test
  void allSlotsAreRanksByDefault() {
    assertThat(numbers(8).run(RankContext::rank)).containsExactly(0, 1, 2, 3);
  }

  @Test
  void acceptsNullResults() {
    assertThat(numbers(8).ranks(2).run(context -> null)).containsExactly(null, null);
  }

  @Test
  void taskAddsVariablesAndUsesEpochsAndCollectives() {
    List<Float> results =
        numbers(100)
            .ranks(3)
            .run(
                context -> {
                  float rank = context.rank();
                  context.store().add("own", Tensor.wrap(new float[] {rank, rank}, 1, 2));
                  context.store().init("sums", 1, DType.FLOAT64, 1);
                  context.store().epochBegin();
                  float[] all = new float[6];
                  context.store().get("own", Tensor.wrap(all, 3, 2), 0);
                  context.store().epochEnd();
                  context
                      .store()
                      .update("own", Tensor.wrap(new float[] {rank + 10, rank + 20}, 1, 2), 0);
                  context.store().epochBegin();
                  float[] later = new float[2];
                  int next = (context.rank() + 1) % context.ranks();
                  context.store().get("own", Tensor.wrap(later, 1, 2), next);
                  context.store().epochEnd();
                  float[] sum = {all[2] + later[0]};
                  context.communicator().allReduce(sum, ReduceOp.SUM);
                  return sum[0];
                });

    // Three times rank 1's own first value, and each rank's updated one: 10 + 11 + 12.
    assertThat(results).containsExactly(36f, 36f, 36f);
  }

  @Test
  void runsRepeatedly() {
    StoreSpec spec = numbers(200).ranks(2);

    assertThat(spec.run(StoreSpecTest::sumOfIds)).containsExactly(19900L, 19900L);
    assertThat(spec.run(StoreSpecTest::sumOfIds)).containsExactly(19900L, 19900L);
    assertThat(spec.ranks(4).run(StoreSpecTest::sumOfIds)).containsOnly(19900L);
  }

  @Test
  void isolatesRunsOfTwoThreads() throws Exception {
    CompletableFuture<List<Long>> first =
        CompletableFuture.supplyAsync(() -> numbers(300).ranks(2).run(StoreSpecTest::sumOfIds));
    CompletableFuture<List<Long>> second =
        CompletableFuture.supplyAsync(() -> numbers(500).ranks(2).run(StoreSpecTest::sumOfIds));

    assertThat(first.get(2, TimeUnit.MINUTES)).containsExactly(44850L, 44850L);
    assertThat(second.get(2, TimeUnit.MINUTES)).containsExactly(124750L, 124750L);
  }

  /** Each needs more than half of the slots: they must not wait for each other for ever. */
  @Test
  void runsThatDoNotFitTogetherTakeTurns() throws Exception {
    CompletableFuture<List<Long>> first =
        CompletableFuture.supplyAsync(() -> numbers(300).ranks(3).run(StoreSpecTest::sumOfIds));
    CompletableFuture<List<Long>> second =
        CompletableFuture.supplyAsync(() -> numbers(500).ranks(3).run(StoreSpecTest::sumOfIds));

    assertThat(first.get(2, TimeUnit.MINUTES)).containsOnly(44850L);
    assertThat(second.get(2, TimeUnit.MINUTES)).containsOnly(124750L);
  }

  @Test
  void directMemoryServesRanksOfOneProcess() {
    assertThat(numbers(100).ranks(2).backing(Backing.DIRECT).run(StoreSpecTest::sumOfIds))
        .containsExactly(4950L, 4950L);
  }

  @Test
  void keepsFilesInTheDirectoryWhileTheTaskRuns() throws IOException {
    String root = directory.toString();
    List<Boolean> paths =
        numbers(100)
            .ranks(2)
            .files(directory)
            .run(
                context -> {
                  sumOfIds(context);
                  try (Stream<Path> files = Files.walk(Path.of(root))) {
                    return files.anyMatch(
                        file -> file.getFileName().toString().startsWith("shard"));
                  }
                });

    assertThat(paths).as("ranks that saw files").containsExactly(true, true);
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).as("what is left in the directory").isEmpty();
    }
  }

  /** Name without number, and length, of the segment files under a directory. */
  private static List<String> segmentFiles(String root) throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(root))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("shard"))
          .map(
              file ->
                  file.getFileName().toString().replaceAll("-[0-9]+", "")
                      + " "
                      + file.toFile().length())
          .sorted()
          .toList();
    }
  }

  /** A page more for the header of a file, 8 bytes a row for where a ragged record begins. */
  @Test
  void filesHoldOnlyTheDataAndItsIndex() {
    String root = directory.toString();
    List<List<String>> fixed =
        DDStores.from(spark.range(10_000).selectExpr("id", "double(id) as y"))
            .ranks(1)
            .files(directory)
            .run(context -> segmentFiles(root));
    List<List<String>> ragged =
        DDStores.from(spark.range(10_000).selectExpr("repeat('x', 20) as t"))
            .ranks(1)
            .files(directory)
            .run(context -> segmentFiles(root));

    long page = 4096;
    assertThat(fixed.get(0)).containsExactly("shard " + (page + 10_000 * 16));
    // A record is 4 bytes of length and the text. One offset is the end, two are the only chunk.
    assertThat(ragged.get(0))
        .containsExactly(
            "shard " + (page + 10_000 * (4 + 20)), "shard.offsets " + (page + 10_000 * 8 + 3 * 8));
  }

  @Test
  void filesNeedADirectory() {
    assertThatThrownBy(() -> numbers(10).ranks(2).backing(Backing.FILE).run(RankContext::rank))
        .isInstanceOf(PreflightException.class)
        .hasMessageContaining("spark.ddstore.directory=");
  }

  @Test
  void loadsZeroRows() {
    assertThat(numbers(0).ranks(3).run(context -> context.rows().rows()))
        .containsExactly(0L, 0L, 0L);
  }

  @Test
  void loadsFewerRowsThanRanks() {
    assertThat(numbers(2).ranks(4).run(context -> context.rows().localRows() + sumOfIds(context)))
        .containsExactly(1L, 2L, 1L, 2L);
  }

  @Test
  void rejectsTooManyRanksAtOnce() {
    long start = System.nanoTime();
    assertThatThrownBy(() -> numbers(10).ranks(5).run(RankContext::rank))
        .isInstanceOf(PreflightException.class)
        .hasMessageContaining("5 ranks need 5 slots, 4 available")
        .hasMessageContaining("spark.ddstore.ranks=4");
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .as("time until it was refused")
        .isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void explanationNamesRowsAndPaths() {
    Explanation explanation = numbers(1000).ranks(2).explain();

    assertThat(explanation.rows()).isEqualTo(1000);
    assertThat(explanation.ranks())
        .extracting(Explanation.Rank::firstRow, Explanation.Rank::rows)
        .containsExactly(tuple(0L, 500L), tuple(500L, 500L));
    assertThat(explanation.paths()).hasSize(4).allMatch(path -> path.path().equals("own process"));
    assertThat(explanation.toString()).contains("rank 0 reads rank 1 by own process");
  }

  @Test
  void infoNamesEveryShard() {
    List<List<Long>> firstRows =
        numbers(9)
            .ranks(2)
            .run(
                context ->
                    context.store().info().variables().get(0).extents().stream()
                        .map(StoreInfo.Extent::firstRow)
                        .toList());

    assertThat(firstRows).containsOnly(List.of(0L, 4L));
  }

  /** Resources that a task keeps open must not outlive the job. */
  @Test
  void freesReadersLeftOpen() {
    numbers(100)
        .ranks(2)
        .run(
            context -> {
              Reader reader = context.rows().reader();
              reader.getBatch(1, 2, 3).close();
              return 0;
            });
  }

  /** The descriptions of all jobs, in order and without repetitions, and the records they read. */
  private static final class SeenJobs extends SparkListener {
    final Set<String> descriptions = new LinkedHashSet<>();
    final Map<String, Long> recordsRead = new HashMap<>();
    private final Map<Integer, String> ofStages = new HashMap<>();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
      String description = submitted.properties().getProperty("spark.job.description");
      descriptions.add(description);
      ofStages.put(submitted.stageInfo().stageId(), description);
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      recordsRead.merge(
          ofStages.get(end.stageId()), end.taskMetrics().inputMetrics().recordsRead(), Long::sum);
    }
  }

  @Test
  void namesItsJobsInSparksUi() throws Exception {
    String files = directory.resolve("files").toString();
    String dump = directory.resolve("dump").toString();
    spark.range(0, 1_000, 1, 3).selectExpr("id").write().parquet(files);
    Dataset<Row> rows = spark.read().parquet(files);
    SeenJobs seen = new SeenJobs();
    spark.sparkContext().addSparkListener(seen);
    spark.sparkContext().setJobDescription("mine");
    try {
      DDStores.from(rows).ranks(2).orderBy("id").run(rank -> rank.rank());
      ResidentStore store = DDStores.from(rows).ranks(2).load("described");
      store.append(rows);
      store.run(rank -> rank.rank());
      store.dump(dump);
      store.drop();
      DDStores.restore(spark, dump).ranks(2).load("described").drop();
      DDStores.from(rows).ranks(2).explain();
      assertThat(spark.sparkContext().getLocalProperty("spark.job.description")).isEqualTo("mine");
    } finally {
      spark.sparkContext().setJobDescription(null);
      spark.sparkContext().listenerBus().waitUntilEmpty();
      spark.sparkContext().removeSparkListener(seen);
    }

    String ranks = ", 2 ranks, attempt 1 of 4";
    assertThat(seen.descriptions)
        .containsExactly(
            "mine | DDStore: run, plan of the rows",
            "mine | DDStore: run" + ranks,
            "mine | DDStore \"described\": load, plan of the rows",
            "mine | DDStore \"described\": load" + ranks,
            "mine | DDStore \"described\": append, plan of the rows",
            "mine | DDStore \"described\": append" + ranks,
            "mine | DDStore \"described\": run" + ranks,
            "mine | DDStore \"described\": dump to " + dump + ranks,
            "mine | DDStore \"described\": restore" + ranks,
            "mine | DDStore: explain",
            "mine | DDStore: explain" + ranks);
    assertThat(seen.recordsRead)
        .containsEntry("mine | DDStore: run" + ranks, 1_000L)
        .containsEntry("mine | DDStore \"described\": load" + ranks, 1_000L)
        .containsEntry("mine | DDStore \"described\": append" + ranks, 1_000L)
        .containsEntry("mine | DDStore \"described\": restore" + ranks, 2_000L);
  }
}

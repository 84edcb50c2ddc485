// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.FaultyCode;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.Evidence;
import org.ddstore.spark.Leftovers;
import org.ddstore.spark.OnTwoExecutors;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.RankFailedException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that throw, in executors of their own: 2 with 2 ranks each. */
@Tag("system")
@Timeout(300)
class RankFailureTest extends OnTwoExecutors {
  private static StoreSpec numbers(long rows) {
    Dataset<Row> frame =
        cluster.session().range(rows).selectExpr("id", "array(float(id), float(-id)) as x");
    return DDStores.from(frame).ranks(4).collectiveTimeout(Duration.ofSeconds(30));
  }

  @Test
  void exceptionOfATaskIsTheCause() {
    Evidence evidence = new Evidence(directory);
    StoreJobException failed =
        catchThrowableOfType(
            StoreJobException.class,
            () ->
                numbers(100)
                    .maxAttempts(1)
                    .run(
                        context -> {
                          if (context.rank() == 2) {
                            throw new IllegalStateException("rank 2 is unwell");
                          }
                          try {
                            context.communicator().barrier();
                          } catch (RankFailedException e) {
                            evidence.note("seen by " + context.rank(), e.rank() + e.getMessage());
                            throw e;
                          }
                          return 0;
                        }));

    assertThat(failed)
        .hasMessageContaining("attempt 1 of 1 on 4 ranks failed: rank 2: ")
        .hasMessageContaining("rank 2 is unwell");
    assertThat(failed.getCause())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("rank 2 is unwell");
    for (int rank : List.of(0, 1, 3)) {
      assertThat(evidence.awaitNote("seen by " + rank))
          .as("what rank %d saw", rank)
          .startsWith("2")
          .contains("rank 2 is unwell");
    }
  }

  @Test
  void anErrorOfATaskIsTheCause() {
    assertThatThrownBy(
            () ->
                numbers(100)
                    .maxAttempts(1)
                    .run(
                        context -> {
                          if (context.rank() == 1) {
                            throw new AssertionError("no such thing");
                          }
                          context.communicator().barrier();
                          return 0;
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("rank 1: ")
        .hasRootCauseInstanceOf(AssertionError.class);
  }

  @Test
  void reportsMismatchedGroupAndGlobalCollectives() {
    assertThatThrownBy(
            () ->
                numbers(100)
                    .width(2)
                    .maxAttempts(1)
                    .run(
                        context -> {
                          if (context.rank() == 3) {
                            context.store().epochBegin();
                          } else {
                            context.communicator().barrier();
                          }
                          return 0;
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasRootCauseInstanceOf(CollectiveMismatchException.class)
        .rootCause()
        .hasMessageContaining("rank 2 called barrier() among 4 ranks")
        .hasMessageContaining("rank 3 called epochBegin() among 2 ranks");
  }

  @Test
  void secondAttemptSucceeds() {
    List<String> results =
        numbers(1000)
            .run(
                context -> {
                  context.communicator().barrier();
                  if (context.attempt() == 1 && context.rank() == 3) {
                    throw new IllegalStateException("once");
                  }
                  context.communicator().barrier();
                  return context.rank() + "/" + context.attempt() + "/" + context.rows().rows();
                });

    assertThat(results).containsExactly("0/2/1000", "1/2/1000", "2/2/1000", "3/2/1000");
  }

  @Test
  void everyAttemptFails() {
    Evidence evidence = new Evidence(directory);
    assertThatThrownBy(
            () ->
                numbers(10)
                    .maxAttempts(3)
                    .run(
                        context -> {
                          evidence.note(context.rank() + "." + context.attempt(), "ran");
                          context.communicator().barrier();
                          throw new IllegalStateException("always");
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("attempt 3 of 3")
        .hasMessageContaining("always");
    assertThat(evidence.has("0.3")).as("third attempt").isTrue();
    assertThat(evidence.has("0.4")).as("fourth attempt").isFalse();
  }

  @Test
  void doesNotRetryBadData() {
    Evidence evidence = new Evidence(directory);
    cluster
        .session()
        .udf()
        .register(
            "lengthOf",
            (UDF1<Long, Integer>)
                id -> {
                  evidence.note("row " + id + " " + System.nanoTime(), "");
                  return id == 77 ? 3 : 2;
                },
            DataTypes.IntegerType);
    Dataset<Row> frame =
        cluster
            .session()
            .range(100)
            .selectExpr("id", "transform(sequence(1, lengthOf(id)), i -> float(i)) as x");

    IngestException failed =
        catchThrowableOfType(
            IngestException.class,
            () ->
                DDStores.from(frame)
                    .ranks(4)
                    .field("x", org.ddstore.types.DType.FLOAT32, 2)
                    .run(context -> 0));

    assertThat(failed.column()).isEqualTo("x");
    assertThat(failed.row()).isEqualTo(77);
  }

  /** Row 24 is the last one of rank 0, and row 75 is the first one of rank 3. */
  @Test
  void namesTheFirstRowThatCannotBeStored() {
    Dataset<Row> frame =
        cluster.session().range(100).selectExpr("if(id in (24, 75, 99), null, id) as x");

    IngestException failed =
        catchThrowableOfType(
            IngestException.class, () -> DDStores.from(frame).ranks(4).run(context -> 0));

    assertThat(failed).hasMessageContaining("column \"x\", row 24: null; ");
  }

  /** Spark's reader in batches knows no BYTE_STREAM_SPLIT, in which other writers store floats. */
  private Dataset<Row> unreadable() throws IOException {
    Path file = directory.resolve("byte_stream_split.parquet");
    MessageType type =
        MessageTypeParser.parseMessageType("message m { required float x; required int32 n; }");
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(type)
            .withByteStreamSplitEncoding("x", true)
            .withDictionaryEncoding(false)
            .build()) {
      for (int i = 0; i < 100; i++) {
        writer.write(new SimpleGroup(type).append("x", (float) i).append("n", i));
      }
    }
    return cluster.session().read().parquet(file.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "concat('t', x) as x"})
  void failsAtOnceOnAnUnreadableFile(String expression) throws IOException {
    StoreSpec spec = DDStores.from(unreadable().selectExpr("n", expression)).ranks(4);

    // Text is looked at before the load, numbers are not.
    String beginning = expression.equals("x") ? "attempt 1 of 4 on 4 ranks" : "the rows cannot be";
    assertThatThrownBy(() -> spec.run(context -> 0))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith(beginning)
        .hasMessageContaining("byte_stream_split.parquet")
        .hasMessageContaining("Unsupported encoding: BYTE_STREAM_SPLIT")
        .message()
        .hasLineCount(1);
  }

  @Test
  void failsAtOnceOnATooLargeBatch() {
    assertThatThrownBy(
            () ->
                numbers(100)
                    .run(
                        context -> {
                          throw new BatchTooLargeException("read at most 7 rows a batch");
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith("attempt 1 of 4 on 4 ranks failed: rank ")
        .hasMessageContaining("read at most 7 rows a batch")
        .hasMessageEndingWith("; another attempt would fail in the same way");
  }

  @Test
  void failsAtOnceOnABugOfTheTask() {
    assertThatThrownBy(() -> numbers(100).run(FaultyCode.readingUnknownField()))
        .isInstanceOf(StoreJobException.class)
        .hasMessageMatching(
            "attempt 1 of 4 on 4 ranks failed: rank 1: java.lang.IllegalArgumentException: .*"
                + "unknown.* \\(at FaultyCode.java:\\d+\\); another attempt would fail in the same way")
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void triesABugOfTheTaskAgainIfTheSettingSaysSo() {
    cluster.session().conf().set("spark.ddstore.retryTaskExceptions", "true");
    try {
      assertThatThrownBy(() -> numbers(100).maxAttempts(2).run(FaultyCode.readingUnknownField()))
          .isInstanceOf(StoreJobException.class)
          .hasMessageStartingWith("attempt 2 of 2 on 4 ranks failed: rank 1: ");
    } finally {
      cluster.session().conf().unset("spark.ddstore.retryTaskExceptions");
    }
  }

  /** Numbers are computed in the load, texts in the plan of it, both in the plan of a sort. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dividing(id) as x | false",
        "concat('t', dividing(id)) as x | false",
        "dividing(id) as x | true"
      })
  void failsAtOnceOnABugOfAFunction(String expression, boolean isSorted) {
    cluster.session().udf().register("dividing", FaultyCode.dividing(), DataTypes.LongType);
    Dataset<Row> frame = cluster.session().range(100).selectExpr(expression);
    StoreSpec spec = DDStores.from(isSorted ? frame.orderBy("x") : frame).ranks(4);

    String beginning =
        isSorted || expression.startsWith("concat")
            ? "the rows cannot be read: "
            : "attempt 1 of 4 on 4 ranks failed: rank 2: ";
    assertThatThrownBy(() -> spec.run(context -> 0))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith(beginning)
        .hasMessageContaining("java.lang.ArithmeticException: / by zero")
        .hasMessageContaining(" (at FaultyCode.java:")
        .hasMessageEndingWith("; another attempt would fail in the same way")
        .hasRootCauseInstanceOf(ArithmeticException.class)
        .message()
        .doesNotContain("Job aborted");
  }

  @Test
  void failsAtOnceOnAnErrorOfTheQuery() {
    Dataset<Row> frame = cluster.session().range(100).selectExpr("1 / (id - 77) as x");
    assertThatThrownBy(() -> DDStores.from(frame).ranks(4).run(context -> 0))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith("attempt 1 of 4 on 4 ranks failed: rank 3: ")
        .hasMessageContaining("DIVIDE_BY_ZERO")
        .hasMessageEndingWith("; another attempt would fail in the same way");
  }

  @Test
  void failsAtOnceOnAMissingDirectory() {
    StoreSpec spec = numbers(100).sharedMemory(directory.resolve("none")).checkMemory(false);
    assertThatThrownBy(() -> spec.run(context -> 0))
        .isInstanceOf(PreflightException.class)
        .hasMessageContaining(directory.resolve("none") + " on ")
        .hasMessageContaining("set spark.ddstore.directory to another");
  }

  @Test
  void retriesAFunctionThatFailsOnce() {
    Evidence evidence = new Evidence(directory);
    cluster
        .session()
        .udf()
        .register(
            "failsOnce",
            (UDF1<Long, Long>)
                id -> {
                  if (id == 60 && !evidence.has("failed")) {
                    evidence.note("failed", "");
                    throw new IllegalStateException("the first time");
                  }
                  return 2 * id;
                },
            DataTypes.LongType);

    List<Integer> attempts =
        DDStores.from(cluster.session().range(100).selectExpr("failsOnce(id) as x"))
            .ranks(4)
            .run(
                context -> {
                  long[] sum = {0};
                  for (long i = 0; i < 100; i++) {
                    try (var batch = context.store().getBatch(RankContext.ROWS, i)) {
                      sum[0] += batch.field("x").getLong(0);
                    }
                  }
                  assertThat(sum[0]).isEqualTo(9900);
                  return context.attempt();
                });

    assertThat(evidence.has("failed")).as("it failed").isTrue();
    assertThat(attempts).containsOnly(2);
  }

  @Test
  void failsAtOnceOnAnUnserializableResult() {
    Evidence evidence = new Evidence(directory);
    assertThatThrownBy(
            () ->
                numbers(10)
                    .run(
                        context -> {
                          evidence.note("attempt " + context.attempt(), "");
                          return new Object();
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("cannot be sent to the driver")
        .hasMessageContaining("java.lang.Object");
    assertThat(evidence.has("attempt 2")).as("second attempt").isFalse();
  }

  @Test
  void sendsAnUnserializableExceptionAsText() {
    assertThatThrownBy(
            () ->
                numbers(10)
                    .maxAttempts(1)
                    .run(
                        context -> {
                          throw new Unsendable();
                        }))
        .isInstanceOf(StoreJobException.class)
        .hasMessageContaining("Unsendable: holds a thread");
  }

  private static final class Unsendable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings({"unused", "serial"}) // what this test is about
    private final Object held = Thread.currentThread();

    Unsendable() {
      super("holds a thread");
    }
  }

  @Test
  void rejectsAnUnserializableTask() {
    Object unsendable = new Object();
    assertThatThrownBy(() -> numbers(10).run(context -> unsendable.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the task cannot be sent to the executors: it holds a java.lang.Object, which is not"
                + " serializable");
  }

  /** Descriptors that failed jobs leave would accumulate. */
  @Test
  void failedJobsLeakNoDescriptors() {
    failOnce();
    Set<Descriptors> before = descriptors();
    for (int i = 0; i < 3; i++) {
      failOnce();
    }
    assertThat(descriptors()).as("open files by executor").isEqualTo(before);
  }

  private void failOnce() {
    assertThatThrownBy(
            () ->
                numbers(1000)
                    .maxAttempts(1)
                    .run(
                        context -> {
                          context.store().add("more", org.ddstore.Tensor.wrap(new float[8], 2, 4));
                          if (context.rank() == 0) {
                            throw new IllegalStateException("as always");
                          }
                          context.communicator().barrier();
                          return 0;
                        }))
        .isInstanceOf(StoreJobException.class);
  }

  /** Descriptors that are neither Spark's sockets nor files from which code is loaded. */
  private record Descriptors(long pid, List<String> files) implements Serializable {}

  private static Set<Descriptors> descriptors() {
    return Set.copyOf(
        cluster.inEverySlot(
            rows ->
                new Descriptors(
                    ProcessHandle.current().pid(),
                    Leftovers.openFiles().stream()
                        .filter(file -> file.startsWith("/") && !file.endsWith(".jar"))
                        .filter(file -> !file.startsWith("/proc") && !file.startsWith("/sys"))
                        .sorted()
                        .toList())));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.FaultyCode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.SparkException;
import org.apache.spark.SparkThrowable;
import org.apache.spark.memory.SparkOutOfMemoryError;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.util.AccumulatorV2;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PoolStarvedException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The failures that end a job at once. */
class RetryPolicyTest {
  private static final RetryPolicy POLICY = new RetryPolicy(false);

  private static final String READING =
      "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/a.parquet.";

  /** An error of Spark with a SQLSTATE. */
  private static final class SqlError extends RuntimeException implements SparkThrowable {
    private static final long serialVersionUID = 1L;
    private final String state;

    SqlError(String state) {
      super("an error of " + state);
      this.state = state;
    }

    @Override
    public String getCondition() {
      return "ANY";
    }

    @Override
    public String getSqlState() {
      return state;
    }
  }

  static Stream<Throwable> permanent() {
    return Stream.of(
        new IngestException("x", 3, "280 is outside [0, 255]"),
        new BatchTooLargeException("read at most 3,565 rows a batch"),
        new IllegalStateException("in a task", new BatchTooLargeException("as before")),
        new RejectedArgumentException("state mismatch: number of rows is 3 in the state, 4 here"),
        new PreflightException("cannot load", List.of()),
        new RebuildDiffersException("train", 1, "other rows"),
        new DDStoreException("cannot write", new IOException("No space left on device")),
        new DDStoreException("cannot write", new IOException("Disk quota exceeded")),
        new UncheckedIOException(new FileSystemException("/a", null, "Read-only file system")),
        new DDStoreException("cannot create", new AccessDeniedException("/a")),
        new DDStoreException(
            "cannot create",
            new IOException("of another user", new FileAlreadyExistsException("/dev/shm/x"))),
        new DDStoreException("cannot create", new NotDirectoryException("/a")),
        new FileNotFoundException("/a/b (Permission denied)").initCause(new IOException("x")),
        new SparkException(READING, new UnsupportedOperationException("Unsupported encoding")),
        new SparkException("Encountered error while reading file a.", new RuntimeException("b")),
        new SparkException(
            "Job aborted", new SparkException(READING, new ParquetDecodingException("page"))),
        new SparkException(READING, new FileNotFoundException("/a.parquet")),
        FaultyCode.thrownBy(FaultyCode::divide),
        FaultyCode.thrownBy(FaultyCode::overflow),
        FaultyCode.thrownBy(FaultyCode::parse),
        FaultyCode.thrownBy(FaultyCode::useWrongType),
        FaultyCode.thrownBy(FaultyCode::throwOwn),
        FaultyCode.thrownBy(FaultyCode::failInPool),
        FaultyCode.thrownBy(FaultyCode::misuseLibrary),
        new DDStoreException("store \"a\": cannot map", FaultyCode.thrownBy(FaultyCode::divide)),
        new SqlError("39000").initCause(FaultyCode.thrownBy(FaultyCode::divide)),
        new OutOfMemoryError("Java heap space"),
        new IllegalStateException("in a reader", new OutOfMemoryError("Java heap space")),
        new SqlError("22012"),
        new SqlError("42703"),
        new SparkException("Job aborted due to stage failure", new SqlError("0A000")));
  }

  @ParameterizedTest
  @MethodSource("permanent")
  void doesNotRetryPermanentFailures(Throwable failure) {
    assertThat(POLICY.isPermanent(failure)).isTrue();
  }

  static Stream<Throwable> transientFailures() {
    return Stream.of(
        new IllegalStateException("of the user's task"),
        new UnsupportedOperationException("of the user's task"),
        new IllegalStateException(new Exception("raised by the store")),
        FaultyCode.thrownBy(FaultyCode::throwChecked),
        FaultyCode.thrownBy(FaultyCode::missDevice),
        FaultyCode.thrownBy(FaultyCode::cancel),
        FaultyCode.raising(new RankLostException(1, "the process of rank 1 has ended")),
        FaultyCode.raising(new SocketTimeoutException("Read timed out")),
        FaultyCode.raising(new InterruptedException()),
        FaultyCode.raising(new TimeoutException("no answer within 1 s")),
        FaultyCode.raising(new SparkException("Failed to fetch a block")),
        FaultyCode.raising(new PoolStarvedException("no batch", new Throwable("user code"))),
        new SqlError("39000").initCause(FaultyCode.raising(new IOException("reset"))),
        new SparkOutOfMemoryError(
            "UNABLE_TO_ACQUIRE_MEMORY", Map.of("requestedBytes", "8", "receivedBytes", "0")),
        new RankLostException(1, "the process of rank 1 has ended"),
        new DDStoreException("cannot map", new NoSuchFileException("/dev/shm/x")),
        new IOException("Connection reset by peer"),
        new SparkException(READING, new SocketTimeoutException("Read timed out")),
        new SparkException(READING, new IOException("Could not obtain block")),
        new SparkException(READING, new FileNotFoundException("/a (Too many open files)")),
        new SparkException(READING, new IllegalStateException("Connection pool shut down")),
        new SqlError("KD001"),
        new SqlError("39000"),
        new SqlError(null));
  }

  @ParameterizedTest
  @MethodSource("transientFailures")
  void retriesTransientFailures(Throwable failure) {
    assertThat(POLICY.isPermanent(failure)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("permanent")
  void toleratesACycleOfCauses(Throwable failure) {
    Throwable outer = new IllegalStateException("outer");
    Throwable inner = new IllegalStateException("inner", outer);
    outer.initCause(inner);
    assertThat(POLICY.isPermanent(outer)).isFalse();
    assertThat(RetryPolicy.rootCause(outer)).isEqualTo(inner.toString());
    assertThat(RetryPolicy.rootCause(new DDStoreException("a", failure)))
        .as("the deepest cause")
        .isNotEmpty();
  }

  @Test
  void settingRetriesExceptionsOfTasks() {
    RetryPolicy retrying = new RetryPolicy(true);
    assertThat(retrying.isPermanent(FaultyCode.thrownBy(FaultyCode::divide))).isFalse();
    assertThat(retrying.isPermanent(new OutOfMemoryError("Java heap space"))).isFalse();
    assertThat(retrying.isPermanent(new BatchTooLargeException("as before"))).isTrue();
  }

  /** An exception that the driver could not read: its class and its trace are known. */
  @Test
  void readsTheTraceOfAnUnsentException() {
    Throwable bug = FaultyCode.thrownBy(FaultyCode::divide);
    assertThat(POLICY.isPermanent(unsent(bug))).isTrue();
    assertThat(RetryPolicy.describe(unsent(bug)))
        .matches("java.lang.ArithmeticException: / by zero \\(at FaultyCode.java:\\d+\\)");
    assertThat(POLICY.isPermanent(unsent(FaultyCode.raising(new IOException("reset"))))).isFalse();
    assertThat(POLICY.isPermanent(unsent(new IllegalStateException("of the store")))).isFalse();
    Throwable noMemory = new SparkException(READING, new OutOfMemoryError("Java heap space"));
    assertThat(POLICY.isPermanent(unsent(noMemory))).isTrue();
    assertThat(RetryPolicy.describe(unsent(noMemory)))
        .contains("a.parquet. (root cause: java.lang.OutOfMemoryError: Java heap space): raise ");
  }

  @Test
  void namesTheRemedyForAFunctionThatAnExecutorCannotLoad() {
    Throwable unloaded =
        new ClassCastException(
            "cannot assign instance of java.lang.invoke.SerializedLambda to field a.B.f of type C");
    assertThat(RetryPolicy.describe(unloaded)).contains("--jars").contains("ulimit -n");
    assertThat(RetryPolicy.describe(unsent(new SparkException("Job aborted", unloaded))))
        .contains("could not load the class");
    assertThat(RetryPolicy.describe(new ClassCastException("A to B"))).doesNotContain("--jars");
  }

  private static ExceptionFailure unsent(Throwable failure) {
    StringWriter trace = new StringWriter();
    failure.printStackTrace(new PrintWriter(trace));
    return new ExceptionFailure(
        failure.getClass().getName(),
        failure.getMessage(),
        failure.getStackTrace(),
        trace.toString(),
        Option.empty(),
        CollectionConverters.asScala(List.<AccumulableInfo>of()).toSeq(),
        CollectionConverters.asScala(List.<AccumulatorV2<?, ?>>of()).toSeq(),
        CollectionConverters.asScala(List.<Object>of()).toSeq());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command"
            + " exited with code 52",
        "Container from a bad node: container_1_2 on host: a. Exit status: 52. Diagnostics: none",
        "The executor with id 3 exited with exit code 52(JVM OOM)."
      })
  void namesTheLackOfMemoryOfALostExecutor(String reason) {
    assertThat(RetryPolicy.isOutOfMemory(reason)).isTrue();
    assertThat(RetryPolicy.describe(reason))
        .startsWith(reason)
        .contains("OutOfMemoryError: raise spark.executor.memory");
    assertThat(RetryPolicy.isOutOfMemory("Command exited with code 152")).isFalse();
  }
}

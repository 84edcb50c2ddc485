// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.spark.SparkException;
import org.apache.spark.SparkThrowable;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.RebuildDiffersException;
import org.ddstore.types.BatchTooLargeException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.RankLostException;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The failures that end a job at once. */
class RetryPolicyTest {
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
        new SqlError("22012"),
        new SqlError("42703"),
        new SparkException("Job aborted due to stage failure", new SqlError("0A000")));
  }

  @ParameterizedTest
  @MethodSource("permanent")
  void doesNotRetryPermanentFailures(Throwable failure) {
    assertThat(RetryPolicy.isPermanent(failure)).isTrue();
  }

  static Stream<Throwable> transientFailures() {
    return Stream.of(
        new IllegalStateException("of the user's task"),
        new UnsupportedOperationException("of the user's task"),
        new OutOfMemoryError("Java heap space"),
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
    assertThat(RetryPolicy.isPermanent(failure)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("permanent")
  void toleratesACycleOfCauses(Throwable failure) {
    Throwable outer = new IllegalStateException("outer");
    Throwable inner = new IllegalStateException("inner", outer);
    outer.initCause(inner);
    assertThat(RetryPolicy.isPermanent(outer)).isFalse();
    assertThat(RetryPolicy.rootCause(outer)).isEqualTo(inner.toString());
    assertThat(RetryPolicy.rootCause(new DDStoreException("a", failure)))
        .as("the deepest cause")
        .isNotEmpty();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.assertj.core.api.AbstractThrowableAssert;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster for a whole class of tests, which that class starts, rows that know their number, and a
 * reader of all of them.
 */
public abstract class OnTestCluster {
  protected static final int ROWS = 2000;
  protected static final long SUM = ROWS * (ROWS - 1L) / 2;
  protected static final Duration COLLECTIVE_TIMEOUT = Duration.ofSeconds(60);
  protected static final Duration WELL_BELOW_TIMEOUT = Duration.ofSeconds(30);

  protected static TestCluster cluster;

  @TempDir protected Path directory;

  @AfterAll
  protected static void stop() {
    cluster.close();
  }

  /** Row i is (i, [i, -i], "ti"). */
  protected static Dataset<Row> numberedRows() {
    return numbered(cluster.session().range(ROWS));
  }

  /** Rows [from, to) of the same content, in three partitions. */
  protected static Dataset<Row> numberedRows(long from, long to) {
    return numbered(cluster.session().range(from, to, 1, 3));
  }

  private static Dataset<Row> numbered(Dataset<Long> ids) {
    return ids.selectExpr("id", "array(float(id), float(-id)) as x", "concat('t', id) as t");
  }

  /** Runs a task on every rank, in a thread of its own. */
  protected static <T> CompletableFuture<List<T>> startJob(StoreSpec spec, RankTask<T> task) {
    return CompletableFuture.supplyAsync(() -> spec.run(task));
  }

  protected static AbstractThrowableAssert<?, ?> assertFails(StoreSpec spec, RankTask<?> task) {
    return assertThatThrownBy(() -> spec.run(task)).isInstanceOf(StoreJobException.class);
  }

  /**
   * Reads all rows in one batch, and fails if one is wrong or their number is not {@code count}.
   */
  protected static void checkAll(Variable rows, int count) {
    assertThat(rows.rows()).isEqualTo(count);
    long[] indices = new long[count];
    Arrays.setAll(indices, i -> (i * 7919L) % count);
    try (Reader reader = rows.reader();
        Batch batch = reader.getBatch(indices)) {
      for (int i = 0; i < count; i++) {
        check(batch, i, indices[i]);
      }
    }
  }

  /**
   * Reads every row of {@link #numberedRows} and fails if one is wrong.
   *
   * @return {@link #SUM}
   */
  protected static long readAll(RankContext context) {
    try (Reader reader = context.rows().reader()) {
      return readAll(reader);
    }
  }

  protected static long readAll(Reader reader) {
    long sum = 0;
    for (int first = 0; first < ROWS; first += 100) {
      long[] indices = new long[100];
      for (int i = 0; i < indices.length; i++) {
        indices[i] = (first + i * 37L) % ROWS;
      }
      try (Batch batch = reader.getBatch(indices)) {
        for (int i = 0; i < indices.length; i++) {
          check(batch, i, indices[i]);
          sum += indices[i];
        }
      }
    }
    return sum;
  }

  private static void check(Batch batch, int i, long index) {
    long id = batch.field("id").getLong(i);
    float[] x = {batch.field("x").getFloat(2L * i), batch.field("x").getFloat(2L * i + 1)};
    String text = batch.string("t", i);
    if (id != index || x[0] != index || x[1] != -index || !text.equals("t" + index)) {
      throw new AssertionError("row %d is %d, [%s, %s], %s".formatted(index, id, x[0], x[1], text));
    }
  }

  public static boolean isRunning(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  public static void kill(long pid) {
    assertThat(cluster.executors()).as("process to be killed").contains(pid);
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
  }
}

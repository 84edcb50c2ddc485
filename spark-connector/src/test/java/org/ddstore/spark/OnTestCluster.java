// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Variable;
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
    return numberedRows(0, ROWS);
  }

  /** The rows [from, to) of them, in three partitions. */
  protected static Dataset<Row> numberedRows(long from, long to) {
    return cluster
        .session()
        .range(from, to, 1, 3)
        .selectExpr("id", "array(float(id), float(-id)) as x", "concat('t', id) as t");
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

  /**
   * Reads {@code count} {@link #numberedRows} in another order, and fails if there are more or one
   * is wrong.
   */
  protected static void checkNumbered(Variable rows, int count) {
    assertThat(rows.rows()).isEqualTo(count);
    try (Reader reader = rows.reader()) {
      readAll(reader, count, count);
    }
  }

  protected static long readAll(Reader reader) {
    return readAll(reader, ROWS, 100);
  }

  private static long readAll(Reader reader, int count, int batchSize) {
    long sum = 0;
    long[] indices = new long[batchSize];
    for (int first = 0; first < count; first += batchSize) {
      for (int i = 0; i < batchSize; i++) {
        indices[i] = ((first + i) * 7919L) % count;
      }
      try (Batch batch = reader.getBatch(indices)) {
        for (int i = 0; i < batchSize; i++) {
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

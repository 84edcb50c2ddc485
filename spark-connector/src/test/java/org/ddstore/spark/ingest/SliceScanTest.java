// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.TaskCompletionListener;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.reflect.ClassTag$;

/** Scans free their memory when their rows are read, in tasks that go on. */
class SliceScanTest {
  private static final int ROWS = 1000;
  private static final AtomicInteger OPEN = new AtomicInteger();

  @TempDir static Path folder;

  private static String free() {
    return ScanMemory.ofProcess().toString();
  }

  /** Counts as an open scan, as readers of Spark are, until a task has ended in its eyes. */
  private static final UDF1<Long, Long> OPENED =
      id -> {
        if (OPEN.compareAndSet(0, 1)) {
          TaskContext.get()
              .addTaskCompletionListener((TaskCompletionListener) task -> OPEN.decrementAndGet());
        }
        return id;
      };

  private final SparkSession spark = Sparks.local();
  private final String all = free();

  @BeforeEach
  void reset() {
    OPEN.set(0);
  }

  private Dataset<Row> rows() {
    String path = folder.resolve("rows").toString();
    spark.range(0, ROWS, 1, 1).write().mode("overwrite").parquet(path);
    return spark
        .read()
        .parquet(path)
        .select(functions.udf(OPENED, DataTypes.LongType).apply(functions.col("id")).as("id"));
  }

  /** Runs a function on the rows of the first of two shards, which does not end with the file. */
  private List<String> onFirstShard(FlatMapFunction<Iterator<InternalRow>, String> function) {
    try (IngestPlan plan = IngestPlan.of(rows(), IngestOptions.defaults(), 2)) {
      return new JavaRDD<>(
              plan.shardsOf(0), ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
          .mapPartitions(function)
          .collect();
    }
  }

  @Test
  void endsWithTheLastRowOfTheSlice() {
    List<String> found =
        onFirstShard(
            rows -> {
              rows.next();
              String during = OPEN + " open, " + free();
              int count = 1;
              while (rows.hasNext()) {
                rows.next();
                count++;
              }
              return List.of(during, count + " rows, " + OPEN + " open, " + free()).iterator();
            });

    assertThat(found.get(0)).startsWith("1 open, ").isNotEqualTo("1 open, " + all);
    assertThat(found.get(1)).isEqualTo(ROWS / 2 + " rows, 0 open, " + all);
  }

  @Test
  void endsWithATaskThatLeavesRows() {
    assertThat(onFirstShard(rows -> List.of(OPEN + " then " + rows.next().getLong(0)).iterator()))
        .containsExactly("0 then 0");

    assertThat(OPEN).hasValue(0);
    assertThat(free()).isEqualTo(all);
  }

  @Test
  void endsWithATaskThatFails() {
    assertThatThrownBy(
            () ->
                onFirstShard(
                    rows -> {
                      throw new IllegalStateException("after row " + rows.next().getLong(0));
                    }))
        .hasMessageContaining("after row 0");

    assertThat(OPEN).hasValue(0);
    assertThat(free()).isEqualTo(all);
  }
}

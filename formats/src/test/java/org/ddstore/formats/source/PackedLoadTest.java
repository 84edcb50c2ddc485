// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads copy blocks of packed values; the records are those that single rows give. */
class PackedLoadTest {

  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import numpy as np
        rng = np.random.default_rng(3)
        n = 5003
        np.savez('all.npz',
                 bool=rng.integers(0, 2, n).astype('bool'),
                 wide=rng.integers(0, 1 << 16, (n, 3)).astype('uint16'),
                 half=rng.random((n, 2)).astype('float16'),
                 one=rng.integers(0, 256, n).astype('uint8'),
                 big=rng.random((n, 5)).astype('>f4'),
                 grid=rng.integers(0, 256, (n, 4, 3)).astype('uint8'),
                 huge=rng.integers(0, 1 << 62, n).astype('uint64'),
                 line=np.asfortranarray(rng.random((n, 7))))
        """);
  }

  private static Dataset<Row> read() {
    return FormatSpark.session().read().format("npz").load(folder.resolve("all.npz").toString());
  }

  /** Rows of a plan that Spark executes as rows, which are no blocks. */
  private static Dataset<Row> asRows(Dataset<Row> read) {
    return FormatSpark.session().createDataFrame(read.javaRDD(), read.schema());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4})
  void blocksOfSeveralColumnsGiveTheRecordsOfRows(int ranks) {
    StoredRecords records = StoredRecords.of(read(), ranks);

    assertThat(records.fields())
        .hasSize(8)
        .containsEntry("grid", "uint8[4, 3]")
        .containsEntry("wide", "int32[3]")
        .containsEntry("half", "float32[2]")
        .containsEntry("one", "uint8")
        .containsEntry("bool", "bool");
    assertThat(records).isEqualTo(StoredRecords.of(asRows(read()), 2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bool", "wide", "half", "one", "big", "grid", "huge", "line"})
  void blocksOfOneColumnGiveTheRecordsOfRows(String column) {
    assertThat(StoredRecords.of(read().select(column), 3))
        .isEqualTo(StoredRecords.of(asRows(read().select(column)), 1));
  }

  /** Columns in another order, and ones that are computed, so that the rows are no blocks. */
  @Test
  void otherColumnsGiveTheRecordsOfRows() {
    Dataset<Row> turned = read().select("line", "one", "big");
    Dataset<Row> computed = read().selectExpr("one + 1 as next", "big");

    assertThat(StoredRecords.of(turned, 2)).isEqualTo(StoredRecords.of(asRows(turned), 1));
    assertThat(StoredRecords.of(computed, 2)).isEqualTo(StoredRecords.of(asRows(computed), 1));
  }
}

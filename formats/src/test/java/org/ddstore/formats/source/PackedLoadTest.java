// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.FloatBuffer;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.DType;
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
        np.savez('cubes.npz', cube=np.arange(12, dtype='f4').reshape(2, 2, 3))
        """);
  }

  private static Dataset<Row> read() {
    return FormatSpark.read("npz", folder.resolve("all.npz"));
  }

  /** Rows of a plan that Spark executes as rows, which are not blocks. */
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

  /** Arrays of several dimensions are flat in rows: a pad of each row would be in wrong places. */
  @Test
  void onlyTheFirstDimensionIsPaddedOrTruncated() {
    StoreSpec spec = DDStores.from(FormatSpark.read("npz", folder.resolve("cubes.npz")));

    StoredRecords padded =
        StoredRecords.of(spec.field("cube", DType.FLOAT32, 3, 3).pad("cube", -1), 1);
    StoredRecords cut =
        StoredRecords.of(spec.field("cube", DType.FLOAT32, 1, 3).truncate("cube"), 1);

    assertThat(floats(padded))
        .containsExactly(0, 1, 2, 3, 4, 5, -1, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1, -1);
    assertThat(floats(cut)).containsExactly(0, 1, 2, 6, 7, 8);
    assertThatThrownBy(
            () -> StoredRecords.of(spec.field("cube", DType.FLOAT32, 2, 4).pad("cube", -1), 1))
        .hasMessageContaining(
            "pad(\"cube\", ..) works on the first dimension: the column is float32[2, 3], so the"
                + " other dimensions of float32[2, 4] must be [3]");
    assertThatThrownBy(
            () -> StoredRecords.of(spec.field("cube", DType.FLOAT32, 2, 2).truncate("cube"), 1))
        .hasMessageContaining("truncate(\"cube\") works on the first dimension");
  }

  private static float[] floats(StoredRecords records) {
    FloatBuffer found = records.buffer("cube").asFloatBuffer();
    float[] all = new float[found.remaining()];
    found.get(all);
    return all;
  }

  /** Columns in another order, and ones that are computed, so that the rows are not blocks. */
  @Test
  void otherColumnsGiveTheRecordsOfRows() {
    Dataset<Row> turned = read().select("line", "one", "big");
    Dataset<Row> computed = read().selectExpr("one + 1 as next", "big");

    assertThat(StoredRecords.of(turned, 2)).isEqualTo(StoredRecords.of(asRows(turned), 1));
    assertThat(StoredRecords.of(computed, 2)).isEqualTo(StoredRecords.of(asRows(computed), 1));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import io.jhdf.api.WritableGroup;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.StoredRecords;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that AnnData wrote are read as AnnData reads them. */
class AnnDataFormatTest {
  private static final int GENES = 17;

  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    AnnDataFixtures.write(folder, "matrices.py");
  }

  private static Dataset<Row> read(String path, String... options) {
    return FormatSpark.read("h5ad", folder.resolve(path), options);
  }

  @ParameterizedTest
  @CsvSource({"f32, float32", "f64, float64", "i32, int32", "i64, int64", "u8, uint8"})
  void storesHoldTheBytesOfAnnData(String type, String stored) {
    String dense = "dense_" + type + ".h5ad";
    String sparse = "csr_" + type + ".h5ad";
    String[] all = {"layers", "*", "obsm", "*", "obs", "n_genes"};

    StoredRecords denseRecords = StoredRecords.of(read(dense, all), 2);
    StoredRecords sparseRecords = StoredRecords.of(read(sparse, all), 3);

    assertThat(denseRecords.fields()).containsEntry("X", stored + "[17]");
    Map.of(
            "X",
            "X.dense",
            "layers_scaled",
            "layers_scaled.dense",
            "obsm_X_pca",
            "obsm_X_pca.dense",
            "obsm_X_umap",
            "obsm_X_umap.dense",
            "layers_counts_values",
            "layers_counts.data")
        .forEach((field, file) -> assertBytes(denseRecords, field, dense, file));
    assertBytes(sparseRecords, "X_indices", sparse, "X.indices");
    assertBytes(sparseRecords, "X_values", sparse, "X.data");
    LongBuffer offsets =
        ByteBuffer.wrap(AnnDataFixtures.bytes(folder.resolve(sparse), "X.indptr"))
            .order(ByteOrder.LITTLE_ENDIAN)
            .asLongBuffer();
    List<Long> expected = new ArrayList<>();
    while (offsets.hasRemaining()) {
      expected.add(offsets.get());
    }
    assertThat(sparseRecords.offsets().get("X_values")).isEqualTo(expected);
    assertThat(sparseRecords.offsets().get("X_indices")).isEqualTo(expected);
  }

  private static void assertBytes(StoredRecords records, String field, String file, String part) {
    assertThat(records.values()).as(file).containsKey(field);
    assertThat(records.values().get(field))
        .as(file + ": " + field)
        .isEqualTo(AnnDataFixtures.bytes(folder.resolve(file), part));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dense_f32.h5ad",
        "csr_i32.h5ad",
        "chunks_dense.h5ad",
        "chunks_csr.h5ad",
        "latest.h5ad",
        "old.h5ad",
        "r.h5ad"
      })
  void obsHasTheValuesOfAnnData(String file) {
    Dataset<Row> rows = read(file, "partitionBytes", "4096");

    JsonNode expected = AnnDataFixtures.json(folder.resolve(file));
    AnnDataFixtures.assertObs(rows, expected);
    assertThat(AnnData.genes(Map.of(), folder.resolve(file).toString()))
        .isEqualTo(AnnDataFixtures.texts(expected.get("genes")));
  }

  @ParameterizedTest
  @CsvSource({
    "chunks_dense.h5ad, dense",
    "chunks_csr.h5ad, dense",
    "chunks_csr.h5ad, sparse",
    "chunks_dense.h5ad, sparse",
    "latest.h5ad, dense"
  })
  void matricesAreReadInEitherForm(String file, String form) {
    Dataset<Row> rows = read(file, "obs", "", "x", form, "partitionBytes", "3000");

    assertThat(rows.rdd().getNumPartitions()).as("partitions").isGreaterThan(3);
    Path path = folder.resolve(file);
    if (form.equals("dense")) {
      assertThat(AnnDataFixtures.bytes(rows, "X"))
          .isEqualTo(AnnDataFixtures.bytes(path, "X.dense"));
    } else {
      Path csr = folder.resolve("chunks_csr.h5ad");
      assertThat(rows.columns()).containsExactly("X_indices", "X_values");
      assertThat(AnnDataFixtures.bytes(rows, "X_values"))
          .isEqualTo(AnnDataFixtures.bytes(csr, "X.data"));
      assertThat(AnnDataFixtures.bytes(rows, "X_indices"))
          .isEqualTo(AnnDataFixtures.bytes(csr, "X.indices"));
    }
  }

  @Test
  void valuesThatWereNeverWrittenAreZero() {
    Dataset<Row> rows = read("latest.h5ad", "obs", "", "x", "none", "layers", "empty,hollow");

    byte[] zeros = new byte[301 * 23 * Float.BYTES];
    assertThat(AnnDataFixtures.bytes(rows, "layers_empty")).isEqualTo(zeros);
    assertThat(AnnDataFixtures.bytes(rows, "layers_hollow")).isEqualTo(zeros);
  }

  @Test
  void tablesWithoutColumnsAreReadFromOtherWriters() {
    Path file = folder.resolve("other.h5ad");
    try (WritableHdfFile out = HdfFile.write(file)) {
      out.putDataset("X", new float[][] {{1, 2, 3}, {4, 5, 6}});
      for (String frame : List.of("obs", "var")) {
        WritableGroup group = out.putGroup(frame);
        group.putAttribute("_index", "names");
        String[] names = {frame + "0", frame + "1", frame + "2"};
        group.putDataset("names", frame.equals("obs") ? Arrays.copyOf(names, 2) : names);
      }
    }

    List<Row> rows = read("other.h5ad").collectAsList();

    assertThat(rows)
        .hasToString("[[obs0,ArraySeq(1.0, 2.0, 3.0)], [obs1,ArraySeq(4.0, 5.0, 6.0)]]");
    assertThat(AnnData.genes(Map.of(), file.toString())).containsExactly("var0", "var1", "var2");
  }

  @Test
  void categoricalsAreReadAsCodes() {
    Dataset<Row> rows =
        read("csr_f32.h5ad", "categoricals", "codes", "obs", "tissue,obs_name", "x", "none");

    JsonNode expected = AnnDataFixtures.json(folder.resolve("csr_f32.h5ad"));
    assertThat(rows.columns()).containsExactly("tissue", "obs_name");
    assertThat(rows.select("tissue").collectAsList().stream().map(row -> "" + row.getInt(0)))
        .containsExactlyElementsOf(AnnDataFixtures.texts(expected.get("tissue.codes")))
        .contains("-1");
    assertThat(AnnData.categories(folder.resolve("csr_f32.h5ad").toString(), "tissue"))
        .containsExactlyElementsOf(AnnDataFixtures.texts(expected.get("tissue.categories")));
  }

  @ParameterizedTest
  @CsvSource({"join_dense, inner", "join_dense, outer", "join_csr, inner", "join_csr, outer"})
  void genesOfFilesAreJoinedAsAnnDataJoinsThem(String files, String join) {
    Path expected = folder.resolve(files + "_" + join);

    Dataset<Row> rows = read(files, "join", join, "layers", "counts", "obs", "cell_type,depth");

    assertThat(AnnData.genes(Map.of("join", join), folder.resolve(files).toString()))
        .isEqualTo(AnnDataFixtures.texts(AnnDataFixtures.json(expected).get("genes")));
    if (files.equals("join_dense")) {
      assertThat(AnnDataFixtures.bytes(rows, "X"))
          .isEqualTo(AnnDataFixtures.bytes(expected, "X.dense"));
    } else {
      assertThat(AnnDataFixtures.bytes(rows, "X_values"))
          .isEqualTo(AnnDataFixtures.bytes(expected, "X.data"));
      assertThat(AnnDataFixtures.bytes(rows, "X_indices"))
          .isEqualTo(AnnDataFixtures.bytes(expected, "X.indices"));
    }
    Dataset<Row> layers = read(files, "join", join, "layers", "counts", "obs", "", "x", "dense");
    assertThat(AnnDataFixtures.bytes(layers, "layers_counts"))
        .isEqualTo(AnnDataFixtures.bytes(expected, "layers_counts.dense"));
  }

  @Test
  void filesWithTheSameGenesKeepTheirOrder() {
    Dataset<Row> rows = read("same", "join", "outer", "obs", "");

    assertThat(AnnData.genes(Map.of(), folder.resolve("same").toString()))
        .containsExactly("z", "y", "x", "a", "b", "c");
    assertThat(AnnDataFixtures.bytes(rows, "X"))
        .isEqualTo(AnnDataFixtures.bytes(folder.resolve("same_outer"), "X.dense"));
  }

  @Test
  void columnsThatAFileLacksAreNullIfAskedFor() {
    Dataset<Row> rows = read("join_csr", "missing", "null", "obs", "small,tissue", "x", "none");

    List<Row> found = rows.collectAsList();
    assertThat(found).hasSize(31 + 29 + 7);
    assertThat(found.subList(31, 60)).allMatch(row -> row.isNullAt(0) && row.isNullAt(1));
    assertThat(found.subList(0, 31)).noneMatch(row -> row.isNullAt(0));
    assertThatThrownBy(() -> read("join_csr", "missing", "null", "obs", "tisue"))
        .hasMessageContaining("obs/tisue: missing in all files");
    assertThatThrownBy(() -> read("join_csr"))
        .hasMessageContaining("1.h5ad: obs/tissue: missing")
        .hasMessageContaining("set the option missing to null");
  }

  @Test
  void filesThatDoNotFitTogetherAreRefused() {
    assertThatThrownBy(() -> read("mixed"))
        .hasMessageContaining("a.h5ad: X: has no column \"X_indices\"")
        .hasMessageContaining("set the option x to dense or sparse");
    assertThat(read("mixed", "x", "sparse").count()).isEqualTo(40);
    assertThatThrownBy(() -> read("others"))
        .hasMessageContaining("no gene in common: set the option join to outer");
    assertThatThrownBy(() -> read("mixed", "x", "csr"))
        .hasMessageContaining("option \"x\" is \"csr\"; legal values: stored, dense, sparse, none");
    assertThatThrownBy(() -> read("csr_f32.h5ad", "layers", "raw"))
        .hasMessageContaining("csr_f32.h5ad: layers/raw: missing")
        .hasMessageContaining("[counts, scaled]");
  }

  /** The rows that a rank drew, with their classes and genes. */
  private record Drawn(List<Long> rows, List<Long> classes, List<Byte> dense)
      implements Serializable {}

  @Test
  void batchesOfAStoreAreBalancedByCellType() {
    Dataset<Row> cells = read("csr_f32.h5ad", "categoricals", "codes", "obs", "cell_type");

    List<Drawn> ranks = DDStores.from(cells).ranks(2).run(AnnDataFormatTest::draw);

    List<String> codes =
        AnnDataFixtures.texts(
            AnnDataFixtures.json(folder.resolve("csr_f32.h5ad")).get("cell_type.codes"));
    byte[] dense = AnnDataFixtures.bytes(folder.resolve("csr_f32.h5ad"), "X.dense");
    Map<Long, Long> perClass = new HashMap<>();
    int rowBytes = GENES * Float.BYTES;
    for (Drawn rank : ranks) {
      assertThat(rank.rows).as("rows of a rank").isNotEmpty();
      for (int i = 0; i < rank.rows.size(); i++) {
        int row = rank.rows.get(i).intValue();
        assertThat(rank.classes.get(i)).isEqualTo(Long.parseLong(codes.get(row)));
        List<Byte> expected = new ArrayList<>();
        for (int at = row * rowBytes; at < (row + 1) * rowBytes; at++) {
          expected.add(dense[at]);
        }
        assertThat(rank.dense.subList(i * rowBytes, (i + 1) * rowBytes))
            .as("row %d", row)
            .isEqualTo(expected);
        perClass.merge(rank.classes.get(i), 1L, Long::sum);
      }
    }
    long rarest =
        codes.stream()
            .distinct()
            .mapToLong(code -> codes.stream().filter(code::equals).count())
            .min()
            .getAsLong();
    assertThat(perClass).hasSize((int) codes.stream().distinct().count());
    assertThat(perClass.values()).as("equally many of each class").containsOnly(rarest);
  }

  private static Drawn draw(RankContext rank) {
    int[] labels = rank.columns().classes("cell_type").labels();
    BatchSampler balanced = Samplers.classBalanced(42, labels).globalBatchSize(4).everySample();
    LoaderOptions options =
        LoaderOptions.defaults()
            .fields("cell_type", "X_indices", "X_values")
            .densify("X_values", "X_indices", GENES);
    Drawn drawn = new Drawn(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    try (Loader loader = rank.loader(balanced, options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        for (int i = 0; i < batch.samples(); i++) {
          drawn.rows.add(batch.row(i));
          drawn.classes.add(batch.field("cell_type").getLong(i));
        }
        ByteBuffer dense = batch.field("X_values").asByteBuffer().duplicate();
        while (dense.hasRemaining()) {
          drawn.dense.add(dense.get());
        }
      }
    }
    return drawn;
  }
}

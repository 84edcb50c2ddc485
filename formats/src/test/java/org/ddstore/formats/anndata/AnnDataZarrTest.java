// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.LeftOutFiles;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups of zarr that AnnData wrote are read as AnnData reads them. */
class AnnDataZarrTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    AnnDataFixtures.write(folder, "groups.py");
  }

  private static Dataset<Row> read(String path, String... options) {
    return FormatSpark.read("anndata", folder.resolve(path), options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dense.zarr", "csr.zarr"})
  void groupsHaveTheValuesOfAnnData(String group) {
    Path path = folder.resolve(group);
    Dataset<Row> rows = read(group, "partitionBytes", "4096");

    AnnDataFixtures.assertObs(rows, AnnDataFixtures.json(path));
    assertThat(AnnData.genes(Map.of(), path.toString()))
        .isEqualTo(AnnDataFixtures.texts(AnnDataFixtures.json(path).get("genes")));
    Dataset<Row> numbers = read(group, "obs", "", "layers", "counts", "obsm", "X_pca");
    StoredRecords records = StoredRecords.of(numbers, 2);
    if (group.equals("dense.zarr")) {
      assertThat(records.values().get("X")).isEqualTo(AnnDataFixtures.bytes(path, "X.dense"));
    } else {
      assertThat(records.values().get("X_values")).isEqualTo(AnnDataFixtures.bytes(path, "X.data"));
      assertThat(records.values().get("X_indices"))
          .isEqualTo(AnnDataFixtures.bytes(path, "X.indices"));
    }
    assertThat(records.values().get("layers_counts_values"))
        .isEqualTo(AnnDataFixtures.bytes(path, "layers_counts.data"));
    assertThat(records.values().get("obsm_X_pca"))
        .isEqualTo(AnnDataFixtures.bytes(path, "obsm_X_pca.dense"));
  }

  @Test
  void groupsInAFolderAreOneDataSet() {
    Dataset<Row> rows = read("both", "obs", "");

    Path expected = folder.resolve("both_inner");
    assertThat(AnnDataFixtures.bytes(rows, "X_values"))
        .isEqualTo(AnnDataFixtures.bytes(expected, "X.data"));
    assertThat(AnnDataFixtures.bytes(rows, "X_indices"))
        .isEqualTo(AnnDataFixtures.bytes(expected, "X.indices"));
  }

  @Test
  void groupsOfAnnData07AndOfRAreFound() {
    AnnDataFixtures.assertObs(read("r.zarr"), AnnDataFixtures.json(folder.resolve("csr.zarr")));
    AnnDataFixtures.assertObs(read("old.zarr"), AnnDataFixtures.json(folder.resolve("dense.zarr")));
  }

  @Test
  void namesAndLinksDoNotLeadOut() {
    assertThatThrownBy(() -> read("leads_out.zarr"))
        .hasMessageContaining("obs/../../plain.zarr/x: the name can lead out of the file");
    Path outside = folder.resolve("outside");
    assertThatThrownBy(() -> read("symbolic.zarr"))
        .hasMessageContaining("symbolic.zarr: X: a symbolic link leads out of the folder");
    assertThat(read("symbolic.zarr", "links", outside.toString()).count()).isPositive();
  }

  @Test
  void damageIsNamedByPlace() throws IOException {
    assertThatThrownBy(() -> read("no_x.zarr")).hasMessageContaining("no_x.zarr: X: missing");
    assertThatThrownBy(() -> read("csc.zarr"))
        .hasMessageContaining("csc.zarr: X: has compressed columns (csc_matrix)");
    Path names = folder.resolve("dense.zarr/obs/_index");
    Files.move(names.resolve("0"), names.resolve("c0"));
    assertThatThrownBy(() -> read("dense.zarr"))
        .hasMessageContaining("obs/_index: no chunk has a key of the metadata, such as 0,");
    Files.copy(names.resolve("c0"), names.resolve("0"));
    assertThat(LeftOutFiles.of(read("dense.zarr"))).containsExactly("dense.zarr/obs/_index/c0");
    Files.delete(names.resolve("c0"));
    assertThatThrownBy(() -> read("plain.zarr")).hasMessageContaining("no file in");
  }
}

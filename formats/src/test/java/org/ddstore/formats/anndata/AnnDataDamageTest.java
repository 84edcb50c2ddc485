// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that are not of AnnData, or damaged, are errors that name file and place inside it. */
class AnnDataDamageTest {
  @TempDir static Path folder;

  @BeforeAll
  static void write() throws IOException {
    AnnDataFixtures.write(folder, "damage.py");
    byte[] good = Files.readAllBytes(folder.resolve("good.h5ad"));
    Files.write(folder.resolve("half.h5ad"), java.util.Arrays.copyOf(good, good.length / 2));
    Files.write(folder.resolve("empty.h5ad"), new byte[0]);
    Files.writeString(folder.resolve("foreign.h5ad"), "\u0093NUMPY, and no more: ".repeat(100));
  }

  private static Dataset<Row> read(String file, String... options) {
    return FormatSpark.read("h5ad", folder.resolve(file + ".h5ad"), options);
  }

  private static void readAll(String file, String... options) {
    read(file, options).collectAsList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "empty | empty.h5ad: the file is empty",
        "foreign | not an HDF5 file: the signature \\x89HDF is missing",
        "half | truncated: the HDF5 header declares",
        "no_x | X: missing",
        "no_obs | obs: missing: the file was not written by AnnData",
        "no_var | var: missing",
        "no_index | obs: the attribute _index is missing",
        "no_column | obs/depth: missing, although the table lists it",
        "short_column | obs/depth: has 40 rows, but obs has 41",
        "narrow | X: has 5 columns, but var has 6 rows",
        "cube | X: has 3 dimensions, not two",
        "texts | X: has texts, not numbers",
        "long_double | X: the HDF5 type floating point of 16 bytes",
        "complex | obs/depth: the HDF5 type compound of 8 bytes",
        "awkward | obs/age: the encoding \"awkward-array\" is not supported",
        "foreign_x | X: the encoding \"dok_matrix\" is not supported",
        "csc | X: has compressed columns (csc_matrix)",
        "foreign_root | the root has the encoding \"mudata\", not anndata",
        "codes | obs/tissue/codes: value 9 is outside [-1, 3)",
        "offsets | X/indptr: offset 1,000,000 of row 3",
        "genes | X/indices: value 6 is outside [0, 6)",
        "compound | obs: is a compound table, as AnnData wrote before version 0.7",
        "clash | X: has the column name \"X\" of obs/X: select one of them",
        "huge | X/",
        "garbled | X: a chunk of gzip cannot be decoded",
        "twice | X/indices: row 2 has index 1 twice: call sum_duplicates()",
        "names | obs/obs_name: has the name of the column of the index",
        "soft_loop | X: more than 16 links follow each other, or lead back",
        "dangling | X: is a link to /gone, which is missing",
        "external | X: is in the file linked/x.h5 by an external link, which is not followed",
        "scaled | X: filter 6 (scaleoffset) is not supported",
        "bfloat | X: the HDF5 type floating point of 2 bytes (exponent of 8 bits",
        "bits | obs/depth: the HDF5 type integer of 2 bytes (12 bits",
        "leads_out | obs/../var/_index: the name can lead out of the file",
        "index_leads_out | var/../obs/_index: the name can lead out of the file",
        "gene_missing | the name of row 4 is missing: give all rows of var a name",
        "huge_var | var/_index: needs 137,438,953",
        "huge_chunk | X: the chunk at [0, 0]",
        "checksum_none_bad | the Fletcher32 checksum of a chunk is",
        "checksum_gzip_bad | the Fletcher32 checksum of a chunk is",
        "checksum_lzf_bad | the Fletcher32 checksum of a chunk is",
      })
  void damageIsNamedByFileAndPlace(String file, String message) {
    assertThatThrownBy(() -> readAll(file))
        .satisfies(
            error -> {
              Throwable cause = error;
              while (!(cause instanceof DDStoreException) && cause.getCause() != null) {
                cause = cause.getCause();
              }
              assertThat(cause).isInstanceOf(DDStoreException.class);
              assertThat(cause.getMessage()).contains(file + ".h5ad: ").contains(message);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "gzip", "lzf"})
  void chunksWithChecksumsAreRead(String compression) {
    double sum =
        read("checksum_" + compression)
            .selectExpr("sum(aggregate(X, 0D, (a, x) -> a + x))")
            .first()
            .getDouble(0);

    assertThat(sum).isEqualTo(41.0 * 6 * (41 * 6 - 1) / 2);
  }

  @Test
  void partsThatAreNotSelectedAreNotRead() {
    assertThat(read("awkward", "obs", "cell_type").count()).isEqualTo(41);
    readAll("csc", "x", "none");
    readAll("codes", "obs", "depth");
    readAll("no_x", "obs", "depth", "x", "none");
    assertThat(read("garbled").select("obs_name").collectAsList()).hasSize(41);
  }

  @ParameterizedTest
  @CsvSource({"virtual, a virtual data set", "raw, data in external raw files"})
  void objectsThatCannotBeReadBlockNoOthers(String file, String feature) {
    readAll(file);
    assertThatThrownBy(() -> readAll(file, "layers", file))
        .hasMessageContaining("%s.h5ad: layers/%s: %s".formatted(file, file, feature));
  }

  @Test
  void externalLinksAreFollowedInTheFolderThatTheUserNames() {
    String linked = folder.resolve("linked").toString();
    List<Row> expected = read("good").select("X").collectAsList();

    assertThat(read("external", "links", linked).select("X").collectAsList()).isEqualTo(expected);
    for (String outside : List.of("external_up", "external_symbolic")) {
      assertThatThrownBy(() -> readAll(outside, "links", linked))
          .hasMessageContaining(outside + ".h5ad: X: is in the file ")
          .hasMessageContaining("outside the folder");
    }
    assertThatThrownBy(() -> readAll("external_gone", "links", linked))
        .hasMessageContaining("gone.h5, which is missing");
    assertThatThrownBy(() -> readAll("good", "links", "linked"))
        .hasMessageContaining("option \"links\": \"linked\" is not an absolute path");
  }

  @Test
  void namesInGroupsAreRead() {
    Dataset<Row> missing = read("cell_missing");
    List<Row> names = missing.select("obs_name").collectAsList();

    assertThat(names.get(6).getString(0)).isEqualTo("name 6");
    assertThat(names.get(7).isNullAt(0)).as("the hidden name is null").isTrue();
    for (String file : List.of("index_categorical", "index_integers")) {
      String path = folder.resolve(file + ".h5ad").toString();
      String name = file.equals("index_integers") ? "5" : "name 5";
      assertThat(AnnData.genes(Map.of(), path)).hasSize(6).endsWith(name);
      assertThat(read(file).select("obs_name").collectAsList().get(5).getString(0)).isEqualTo(name);
    }
  }

  @Test
  void linksThatLeadBackAreNotFollowed() {
    readAll("hard_cycle");
  }

  @Test
  void valuesBeyondTwoGibiElementsAreRead() {
    List<Row> rows = read("far").select("X_indices", "X_values").collectAsList();

    assertThat(rows).hasSize(41);
    assertThat(rows.get(40)).hasToString("[ArraySeq(4),ArraySeq(40.0)]");
  }

  @Test
  void aFileWithoutRowsHasNoRows() {
    Dataset<Row> rows = read("rowless");

    assertThat(rows.collectAsList()).isEmpty();
    assertThat(rows.columns()).contains("X", "cell_type");
  }
}

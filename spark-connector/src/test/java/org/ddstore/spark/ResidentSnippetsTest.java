// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The programs of docs/resident.md run, and the page shows them as they are. */
@Tag("system")
@Timeout(300)
class ResidentSnippetsTest extends OnResidentCluster {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Pattern SNIPPET =
      Pattern.compile("(?s) *// resident.md: (?!end)\\w+\n(.*?)\n *// resident.md: end\n");

  private static ResidentStore load(String name, long rows) {
    return DDStores.from(cluster.session().range(rows).toDF()).ranks(2).load(name);
  }

  @Test
  void programsRun() {
    ResidentStore train = load("train", 1000);
    ResidentStore restored =
        ResidentSnippets.dumpAndRestore(
            cluster.session(), train, directory.resolve("dump").toString());
    assertThat(restored.digest()).isEqualTo(train.digest());
    List<Row> predictions = ResidentSnippets.predictions(train).collectAsList();
    assertThat(predictions).hasSize(1000);
    assertThat(predictions).allMatch(row -> row.getDouble(1) == 2.0 * row.getLong(0));
  }

  @Test
  void thePageShowsThePrograms() throws Exception {
    String source =
        Files.readString(
            ROOT.resolve("spark-connector/src/test/java/org/ddstore/spark/ResidentSnippets.java"));
    String page = Files.readString(ROOT.resolve("docs/resident.md"));
    List<String> snippets =
        SNIPPET
            .matcher(source)
            .results()
            .map((MatchResult found) -> found.group(1).stripTrailing().stripIndent())
            .toList();
    assertThat(snippets).hasSize(3).allSatisfy(snippet -> assertThat(page).contains(snippet));
  }
}

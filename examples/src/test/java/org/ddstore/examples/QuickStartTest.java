// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuickStartTest {
  @TempDir Path directory;

  @Test
  void sampleMeansAreNearTheMean() throws IOException {
    try (SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .getOrCreate()) {
      String path = directory.resolve("rows").toString();
      spark.range(1000).selectExpr("float(id) as x").write().parquet(path);

      List<Double> means = QuickStart.means(spark.read().parquet(path), "x");

      assertThat(means).hasSize(2).allSatisfy(m -> assertThat(m).isCloseTo(499.5, within(10.0)));
    }
  }

  @Test
  void readmeShowsTheQuickStart() throws IOException {
    Path root = Path.of(System.getProperty("ddstore.root"));
    String source =
        Files.readString(
            root.resolve("examples/src/main/java/org/ddstore/examples/QuickStart.java"));
    String lines =
        source
            .substring(source.indexOf("// README: begin\n"), source.indexOf("    // README: end"))
            .replace("// README: begin\n", "")
            .stripTrailing()
            .stripIndent();

    assertThat(lines.lines()).hasSizeLessThanOrEqualTo(10);
    assertThat(Files.readString(root.resolve("README.md"))).contains("```java\n" + lines + "\n```");
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.cli.Launcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code ./ddstore docs}, with the Javadoc and mermaid. */
@Tag("system")
@Tag("slow")
class DocsCommandIT {
  @Test
  void writesASiteAndReplacesIt(@TempDir Path folder) throws Exception {
    Launcher launcher = new Launcher(Files.createDirectory(folder.resolve("work")));
    Path site = folder.resolve("site");
    Path first = site.resolve("index.html");

    Launcher.Outcome outcome = launcher.run("docs", "--output", site.toString());

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out().lines().toList()).last().isEqualTo(first.toString());
    assertThat(first).exists();
    assertThat(site.resolve("docs/guide/tutorial.html")).exists();
    assertThat(site.resolve("api/org/ddstore/spark/StoreSpec.html")).exists();
    assertThat(site.resolve("assets/mermaid.min.js")).isNotEmptyFile();
    assertThat(site.resolve("assets/mermaid-LICENSE.txt")).isNotEmptyFile();
    assertThat(site.resolve("assets/" + SearchIndex.FILE))
        .content()
        .contains("\"org.ddstore.spark.StoreSpec\"");

    Path old = Files.createFile(site.resolve("old.html"));
    assertThat(launcher.run("docs", "--output=" + site).exitCode()).isZero();
    assertThat(old).doesNotExist();
  }
}

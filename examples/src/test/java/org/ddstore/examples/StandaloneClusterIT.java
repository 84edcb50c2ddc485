// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/clusters.md, word for word, on a master and two workers. */
@Tag("system")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class StandaloneClusterIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final int WORKERS = 2;

  @TempDir private static Path folder;
  private static StandaloneCluster cluster;

  @TempDir private Path work;

  @BeforeAll
  static void start() throws IOException {
    cluster = StandaloneCluster.start(SparkHome.current(), folder, WORKERS);
  }

  @AfterAll
  static void stop() throws IOException, InterruptedException {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Test
  void quickStartRunsOnBothWorkers() throws IOException, InterruptedException {
    Program program = submit("org.ddstore.examples.QuickStart");

    SampleRows.assertMeans(program.assertSuccess().lastLine(), WORKERS);
    for (int i = 0; i < WORKERS; i++) {
      try (Stream<Path> applications = Files.list(cluster.workDirectory(i))) {
        assertThat(applications).as("applications that worker %d had executors of", i).isNotEmpty();
      }
    }
  }

  @Test
  @Tag("slow")
  void demoFindsNoMismatch() throws IOException, InterruptedException {
    assertThat(submit("demo --input").assertSuccess().out())
        .contains("Loaded   1,000 rows", "Checked  0 mismatches");
  }

  @Test
  @Tag("slow")
  void doctorReportsBothExecutors() throws IOException, InterruptedException {
    assertThat(submit("doctor").assertSuccess().out())
        .contains("master %s: 2 executors".formatted(cluster.master()))
        .endsWith("A store can run here.\n");
  }

  /** Submits as the page says, but for the place of the master and of the files. */
  private Program submit(String words) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>();
    for (String word : documented(words).split("\\s+", -1)) {
      if (word.matches("(spark-connector|cli|examples)/target/\\S+")) {
        arguments.add(ROOT.resolve(word).toString());
      } else if (word.equals("/data/rows.parquet")) {
        arguments.add(SampleRows.path());
      } else {
        arguments.add(word.replace("spark://HOST:7077", cluster.master()));
      }
    }
    return Program.submit(SparkHome.current(), work, arguments);
  }

  /** The arguments of the one command for a standalone cluster that has these words. */
  private static String documented(String words) throws IOException {
    String page = Files.readString(ROOT.resolve("docs/clusters.md"));
    Pattern block = Pattern.compile("```shell\nspark-submit (--master spark://[^`]+)\n```");
    List<String> commands =
        block
            .matcher(page)
            .results()
            .map(found -> found.group(1).replace("\\\n", " "))
            .filter(command -> command.contains(words))
            .toList();
    assertThat(commands).as("commands with \"%s\" in docs/clusters.md", words).hasSize(1);
    return commands.get(0);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.scalableminds.bloscjava.Blosc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands of pages for a standalone cluster, word for word, on a master and two workers. */
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
    Program program = submit("rows.parquet x");

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
        .contains("A store can run here.\n");
  }

  /** Compressed by the one library in the jar of the formats that is not of Spark. */
  @Test
  void formatsAreReadWithTheirJar() throws IOException, InterruptedException {
    Path array = Files.createDirectories(work.resolve("rows.zarr/x"));
    Files.writeString(array.resolveSibling(".zgroup"), "{\"zarr_format\": 2}");
    Files.writeString(
        array.resolve(".zarray"),
        """
        {"zarr_format": 2, "shape": [1000], "chunks": [500], "dtype": "<f4", "order": "C",
         "fill_value": 0, "filters": null,
         "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}}
        """);
    for (int chunk = 0; chunk < 2; chunk++) {
      ByteBuffer values = ByteBuffer.allocate(500 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < 500; i++) {
        values.putFloat(500 * chunk + i);
      }
      Files.write(
          array.resolve(Integer.toString(chunk)),
          Blosc.compress(
              values.array(), Float.BYTES, Blosc.Compressor.LZ4, 5, Blosc.Shuffle.BYTE_SHUFFLE));
    }

    Program program = submit("spark.sql.sources.default=zarr");

    SampleRows.assertMeans(program.assertSuccess().lastLine(), WORKERS);
  }

  /** Submits as the page says, but for the place of the master and of the files. */
  private Program submit(String words) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>();
    for (String word : documented(words).split("\\s+", -1)) {
      if (word.matches("(spark-connector|cli|examples)/target/\\S+")) {
        arguments.add(
            Arrays.stream(word.split(",", -1))
                .map(jar -> ROOT.resolve(jar).toString())
                .collect(Collectors.joining(",")));
      } else if (word.equals("/data/rows.zarr")) {
        arguments.add(work.resolve("rows.zarr").toString());
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
    String pages =
        Files.readString(ROOT.resolve("docs/clusters.md"))
            + Files.readString(ROOT.resolve("docs/data.md"));
    Pattern block = Pattern.compile("```shell\nspark-submit (--master spark://[^`]+)\n```");
    List<String> commands =
        block
            .matcher(pages)
            .results()
            .map(found -> found.group(1).replace("\\\n", " "))
            .filter(command -> command.contains(words))
            .toList();
    assertThat(commands).as("commands with \"%s\"", words).hasSize(1);
    return commands.get(0);
  }
}

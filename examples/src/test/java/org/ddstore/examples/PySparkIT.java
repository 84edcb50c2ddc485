// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs {@code python/tests/test_spark.py} with PySpark from PyPI, in an environment of its own. */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class PySparkIT {
  private static final Path ROOT = PySpark.ROOT;
  private static final Path RUNTIME_FOLDER = SparkHome.RUNTIME_JAR.getParent();
  private static final Duration LIMIT = Duration.ofMinutes(15);

  /** Packages that build ddstore, which {@code python/pyproject.toml} names. */
  static final String BUILD_PACKAGES = "scikit-build-core==1.1.2 packaging==25.0 pathspec==0.12.1";

  private static final Pattern RESULT = Pattern.compile("\\(([0-9.e-]+), \\[\\[");

  @TempDir private Path work;

  @ParameterizedTest
  @ValueSource(strings = {"ClassicTest", "ConnectTest"})
  void storesAndRanks(String tests) throws IOException, InterruptedException {
    ProcessBuilder builder = PySpark.CURRENT.program(work, "-m", "unittest", "test_spark." + tests);

    Program program = Program.run(work, builder, LIMIT).assertSuccess();

    assertThat(program.err()).contains("OK").doesNotContain("skipped=");
  }

  /** The first commands of docs/pyspark.md, with packages that were downloaded before. */
  @Test
  void fromADataFrameToAModel() throws IOException, InterruptedException {
    List<String> blocks =
        Pattern.compile("(?s)```(?:shell|python)\\n(.*?)```")
            .matcher(Files.readString(ROOT.resolve("docs/pyspark.md")))
            .results()
            .map(block -> block.group(1))
            .limit(2)
            .toList();
    Files.writeString(work.resolve("journey.py"), blocks.get(1));
    Path python = PySpark.CURRENT.python();
    Path packages = work.resolve("packages");
    long startNs = System.nanoTime();
    run(
        python + " -m pip download -q --no-deps -d " + packages, // NumPy is Debian's
        "--require-hashes -r " + ROOT.resolve("python/requirements.lock"));
    run(python + " -m pip download -q --no-deps -d " + packages, BUILD_PACKAGES);
    long downloadedNs = System.nanoTime();
    run(
        blocks
            .get(0)
            .replace("./ddstore", ROOT.resolve("ddstore").toString())
            .replace("-m venv", "-m venv --system-site-packages")
            .replace("python3", Needed.PYTHON)
            .replace("pip install", "pip install -q --no-index --find-links " + packages)
            .replace("./python[spark,torch]", ROOT.resolve("python") + "[spark,torch]")
            .replace("spark-connector/target", RUNTIME_FOLDER.toString())
            .replace("/data", work.toString()));
    long endNs = System.nanoTime();
    Matcher result = RESULT.matcher(Files.readString(work.resolve("out.txt")));
    assertThat(result.find()).isTrue();
    assertThat(Double.parseDouble(result.group(1))).as("loss").isLessThan(0.01);
    System.out.printf(
        "from a DataFrame to a model: downloads %d s, everything else %d s%n",
        TimeUnit.NANOSECONDS.toSeconds(downloadedNs - startNs),
        TimeUnit.NANOSECONDS.toSeconds(endNs - downloadedNs));
  }

  private void run(String... words) throws IOException, InterruptedException {
    List<String> command = List.of("bash", "-e", "-c", String.join(" ", words));
    Program.run(work, PySpark.command(work, command), LIMIT).assertSuccess();
  }
}

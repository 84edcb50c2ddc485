// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.build.DocsCommand;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs {@code python/tests/test_spark.py} with PySpark from PyPI, in an environment of its own. */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class PySparkIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Path LIBRARY = ROOT.resolve("native/target/c/libddstore_reader.so");
  private static final Duration LIMIT = Duration.ofMinutes(15);

  private static Path python;

  @TempDir private Path work;

  @BeforeAll
  static void install() throws IOException, InterruptedException {
    Needed.check("libddstore_reader", LIBRARY.toFile().exists(), () -> LIBRARY + " was not built");
    Path lock = ROOT.resolve("python/requirements.lock");
    try {
      python =
          DocsCommand.environment(Needed.PYTHON, lock, List.of("--system-site-packages"))
              .resolve("bin/python");
    } catch (IllegalStateException e) {
      Needed.check("PySpark", false, e::getMessage);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ClassicTest", "ConnectTest"})
  void storesAndRanks(String tests) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(python.toString(), "-B", "-m", "unittest", "test_spark." + tests)
            .directory(work.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("DDSTORE_JAR", SparkHome.RUNTIME_JAR.toString());
    builder.environment().put("DDSTORE_READER_LIBRARY", LIBRARY.toString());
    builder.environment().put("OMP_NUM_THREADS", "1");
    builder
        .environment()
        .put("PYTHONPATH", ROOT.resolve("python/src") + ":" + ROOT.resolve("python/tests"));
    builder.environment().put("PYSPARK_PYTHON", python.toString());
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("SPARK_LOCAL_DIRS", work.toString());
    builder.environment().put("TMPDIR", work.toString());
    builder.environment().remove("SPARK_HOME");

    Program program = Program.run(work, builder, LIMIT).assertSuccess();

    assertThat(program.err()).contains("OK").doesNotContain("skipped=");
  }
}

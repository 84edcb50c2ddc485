// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests of {@link PySparkIT} with the newest release, and one store with others. The names of
 * the two classes are in different halves of the slow tests.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class PySpark43IT {
  private static final Duration LIMIT = Duration.ofMinutes(15);

  @TempDir private Path work;

  @ParameterizedTest
  @ValueSource(strings = {"ClassicTest", "ConnectTest"})
  void storesAndRanks(String tests) throws IOException, InterruptedException {
    Program program =
        Program.run(
                work, PySpark.NEXT.program(work, "-m", "unittest", "test_spark." + tests), LIMIT)
            .assertSuccess();

    assertThat(program.err()).contains("OK").doesNotContain("skipped=");
  }

  /** Release 3.5 is refused in one line. */
  @ParameterizedTest
  @ValueSource(strings = {"4.1", "4.0", "3.5"})
  void oneStore(String release) throws IOException, InterruptedException {
    PySpark spark = new PySpark("requirements-%s.lock".formatted(release));
    String file = PySpark.ROOT.resolve("python/tests/one_store.py").toString();

    Program program = Program.run(work, spark.program(work, file), LIMIT).assertSuccess();

    String refused = "RuntimeError: PySpark 3.5.9: ddstore.spark needs 4.0 or later";
    assertThat(program.lastLine())
        .startsWith(release.equals("3.5") ? refused : "[(0, 1000), (1, 1000)]");
  }
}

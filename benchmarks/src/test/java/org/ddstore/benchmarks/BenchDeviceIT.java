// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.InProcess;
import org.ddstore.cli.Launcher.Outcome;
import org.ddstore.contract.Needed;
import org.ddstore.nativeio.NativeLibrary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bench device} in this JVM, without a driver and with one that this test compiles. */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class BenchDeviceIT {
  private static final String LIBRARY = "ddstore.cuda.library";

  @TempDir private Path directory;

  @AfterEach
  void forget() {
    System.clearProperty(LIBRARY);
  }

  @Test
  void namesWhatIsMissingWithoutADriver() throws IOException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    System.setProperty(LIBRARY, "libno-such-driver.so.1");
    Outcome outcome = InProcess.run("bench", "device", "--json");
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.err())
        .contains(
            "ddstore: bench device needs a GPU and its driver: no device: no CUDA driver:"
                + " libno-such-driver.so.1");
  }

  @Test
  void copiesFromPinnedAndPageableMemory() throws IOException, InterruptedException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    Path fake = directory.resolve("libfake_cuda.so");
    Path source = Path.of(System.getProperty("ddstore.root"), "native/src/test/c/fake_cuda.c");
    Process compiler =
        new ProcessBuilder(
                "cc", "-shared", "-fPIC", "-o", fake.toString(), source.toString(), "-lpthread")
            .inheritIO()
            .start();
    assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).as("the compiler ends").isTrue();
    assertThat(compiler.exitValue()).as("exit status of the compiler").isZero();
    System.setProperty(LIBRARY, fake.toString());

    Outcome outcome =
        InProcess.command("bench device --batch-mb 1,2 --device 1 --seconds 0.05 --json");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.get("mismatches").asLong()).isZero();
    assertThat(json.get("device").asInt()).isEqualTo(1);
    assertThat(json.get("hostMemory").asText())
        .isEqualTo("pinned for device 1 by the CUDA driver 12.4");
    assertThat(json.get("results").findValuesAsText("memory"))
        .containsExactly("pinned", "pageable", "pinned", "pageable");
    for (JsonNode result : json.get("results")) {
      assertThat(result.get("gbPerSecond").asDouble()).isPositive();
      assertThat(result.get("ratioToPageable").asDouble()).isPositive();
    }

    Outcome refused = InProcess.run("bench", "device", "--device", "2");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err())
        .contains("device 2 is configured, but the driver has 2 devices, numbered from 0");
  }
}

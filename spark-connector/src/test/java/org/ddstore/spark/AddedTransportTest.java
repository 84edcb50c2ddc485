// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.spark.backend.files.FilesService;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of Spark with a transport that a line in a service file adds, in separate executors. */
@Tag("system")
@Timeout(400)
class AddedTransportTest {
  @TempDir Path directory;

  @Test
  void jobsExplainAndErrorsKnowAnAddedTransport() throws Exception {
    Map<String, String> output = SmallSharedMemoryMain.parse(runDriver());

    assertThat(output.get("named"))
        .isEqualTo("[all by files: files: asked for, all by files: files: asked for]");
    assertThat(output.get("groups")).isEqualTo(output.get("named"));
    assertThat(output.get("auto")).startsWith("[all by tcp, ").doesNotContain("files");
    assertThat(output.get("explained")).isEqualTo("files: files: asked for");
    assertThat(output.get("paths")).contains("files to ");
    assertThat(output.get("doctor")).isEqualTo("[own process, same host, tcp, fabric, mpi, files]");
    assertThat(output.get("illegal"))
        .isEqualTo("spark.ddstore.transport is \"pigeon\", legal: auto, tcp, fabric, mpi, files");
    assertThat(output.get("resident"))
        .startsWith("[all by tcp, ")
        .contains(
            "resident stores cannot use transport files, because it ends with the job: using tcp");
  }

  private String runDriver() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + launcher("java-options"));
    command.addAll(ChildJvm.QUICK_START);
    command.addAll(
        List.of(
            "-Xmx1g",
            "-cp",
            FilesService.classPath(directory),
            "-Dlog4j2.configurationFile=" + launcher("log4j2.properties"),
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            AddedTransportMain.class.getName()));
    Path log = directory.resolve("log");
    Process driver =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertThat(driver.waitFor(5, TimeUnit.MINUTES)).as("driver ended").isTrue();
    } finally {
      driver.descendants().forEach(ProcessHandle::destroyForcibly);
      driver.destroyForcibly();
    }
    String output = Files.readString(log);
    assertThat(driver.exitValue())
        .as("exit status of the driver, which said:%n%s", output)
        .isZero();
    return output;
  }

  private static Path launcher(String file) {
    return Path.of(System.getProperty("ddstore.root"), "spark-connector/src/main/launcher", file);
  }
}

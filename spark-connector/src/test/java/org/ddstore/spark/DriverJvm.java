// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;

/** The command of a driver in a JVM of its own, with the class path and options of the tests. */
public final class DriverJvm {
  private DriverJvm() {}

  public static List<String> command(Class<?> main, String... arguments) {
    return command(System.getProperty("java.class.path"), main, arguments);
  }

  public static List<String> command(String classPath, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + launcher("java-options"));
    command.addAll(ChildJvm.QUICK_START);
    command.addAll(
        List.of(
            "-Xmx1g",
            "-cp",
            classPath,
            "-Dlog4j2.configurationFile=" + launcher("log4j2.properties"),
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            main.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Runs a driver to its end, which must be without an error.
   *
   * @param directory directory of the file that the driver writes to
   * @return the output of the driver
   */
  public static String run(List<String> command, Path directory) throws Exception {
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

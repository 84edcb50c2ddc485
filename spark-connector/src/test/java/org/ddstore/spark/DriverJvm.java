// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.ChildJvm;

/** The command of a driver in a JVM of its own, with the class path and options of the tests. */
final class DriverJvm {
  private DriverJvm() {}

  static List<String> command(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + launcher("java-options"));
    command.addAll(ChildJvm.QUICK_START);
    command.addAll(
        List.of(
            "-Xmx1g",
            "-cp",
            System.getProperty("java.class.path"),
            "-Dlog4j2.configurationFile=" + launcher("log4j2.properties"),
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
            main.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  private static Path launcher(String file) {
    return Path.of(System.getProperty("ddstore.root"), "spark-connector/src/main/launcher", file);
  }
}

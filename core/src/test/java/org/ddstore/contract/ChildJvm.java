// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The command of a JVM like this one, with the class path of the tests. */
public final class ChildJvm {
  public static final List<String> QUICK_START =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  /**
   * Options with which code is optimised in runs with slow tests, after those of {@link #command}:
   * for the ranks of {@link RankContract#optimisesCode}, so that optimised code is tested between
   * processes, too. 29 JVMs took 93 s of processor time with it and 66 s without (two cores,
   * 2026-11-24).
   */
  static final List<String> OPTIMISED =
      System.getProperty("ddstore.slow") != null ? List.of("-XX:TieredStopAtLevel=4") : List.of();

  private static final Optional<ClassArchive> ARCHIVE =
      ServiceLoader.load(ClassArchive.class, ChildJvm.class.getClassLoader()).findFirst();

  private ChildJvm() {}

  public static List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(QUICK_START);
    command.addAll(
        List.of(
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:-UsePerfData", // its warnings would go where answers are expected
            "-Xshare:auto",
            "-Xmx512m",
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir")));
    ARCHIVE.ifPresent(archive -> command.addAll(archive.javaOptions()));
    command.add("-cp");
    command.add(
        ARCHIVE
            .map(ClassArchive::classPath)
            .orElseGet(() -> System.getProperty("java.class.path")));
    return command;
  }
}

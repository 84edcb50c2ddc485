// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** JVMs that check every use of JNI, and what they had to say. For those that a test starts. */
public final class JniChecks implements AutoCloseable {
  private static final String OURS = "org.ddstore.";

  private final Path logs;

  private JniChecks(Path logs) {
    this.logs = logs;
  }

  public static JniChecks create() throws IOException {
    return new JniChecks(TestRoots.onDisk());
  }

  /** Returns the JVM options of the checks; they print nothing to standard output. */
  public List<String> options() {
    return List.of(
        "-Xcheck:jni",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+LogVMOutput",
        "-XX:-DisplayVMOutput",
        "-XX:LogFile=" + logs.resolve("jni-%p.log"));
  }

  /** Fails unless at least this number of JVMs have ended, none with a warning of our code. */
  public void assertSilent(int jvms) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(logs)) {
      files = all.toList();
    }
    assertThat(files).as("logs of JVMs under -Xcheck:jni").hasSizeGreaterThanOrEqualTo(jvms);
    for (Path file : files) {
      assertThat(warnings(Files.readAllLines(file))).as("-Xcheck:jni: %s", file).isEmpty();
    }
  }

  /** A warning is a line and the stack below it; other libraries' are theirs. */
  static List<String> warnings(List<String> lines) {
    List<String> warnings = new ArrayList<>();
    StringBuilder one = new StringBuilder();
    for (String line : lines) {
      boolean begins = line.startsWith("WARNING");
      if (!begins && !line.startsWith("\t")) {
        continue;
      }
      if (begins) {
        addOurs(one, warnings);
      }
      one.append(line).append('\n');
    }
    addOurs(one, warnings);
    return warnings;
  }

  private static void addOurs(StringBuilder one, List<String> warnings) {
    if (one.indexOf(OURS) >= 0) {
      warnings.add(one.toString());
    }
    one.setLength(0);
  }

  /** Deletes what they said. */
  @Override
  public void close() throws IOException {
    TestRoots.delete(logs);
  }
}

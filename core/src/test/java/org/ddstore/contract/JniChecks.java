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

  public List<String> options() {
    return List.of(
        "-Xcheck:jni",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+LogVMOutput",
        "-XX:-DisplayVMOutput",
        "-XX:LogFile=" + logs.resolve("jni-%p.log"));
  }

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

  @Override
  public void close() throws IOException {
    TestRoots.delete(logs);
  }
}

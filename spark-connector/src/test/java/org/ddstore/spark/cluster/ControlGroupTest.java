// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupTest {
  private static final String VERSION_1 =
      """
      9:name=systemd:/
      4:cpuset,memory:/docker/abc
      1:cpu:/
      0::/
      """;

  @TempDir private Path temporary;
  private Path root;

  @BeforeEach
  void makeRoot() throws IOException {
    root = Files.createDirectory(temporary.resolve("cgroup"));
  }

  @Test
  void version2ReadsTheOwnGroup() throws IOException {
    write("app.slice/memory.max", "2147483648\n");
    write("app.slice/memory.current", "1048576\n");

    assertThat(ControlGroup.read("0::/app.slice\n", root))
        .isEqualTo(new ControlGroup(2147483648L, 1048576L));
  }

  @Test
  void usesTheTightestLimitOfAllLevels() throws IOException {
    write("pod/memory.max", "1000\n");
    write("pod/memory.current", "900\n");
    write("pod/box/memory.max", "5000\n");
    write("pod/box/memory.current", "100\n");

    assertThat(ControlGroup.read("0::/pod/box\n", root)).isEqualTo(new ControlGroup(1000L, 900L));
  }

  @Test
  void version2MaxIsNoLimit() throws IOException {
    write("memory.max", "max\n");
    write("memory.current", "77\n");

    assertThat(ControlGroup.read("0::/\n", root)).isEqualTo(new ControlGroup(null, 77L));
  }

  @Test
  void version1IsReadIfItHasTheMemoryController() throws IOException {
    write("memory/docker/abc/memory.limit_in_bytes", "4096\n");
    write("memory/docker/abc/memory.usage_in_bytes", "512\n");
    write("memory/memory.limit_in_bytes", "9223372036854771712\n");

    assertThat(ControlGroup.read(VERSION_1, root)).isEqualTo(new ControlGroup(4096L, 512L));
  }

  @Test
  void version1LargestNumberIsNoLimit() throws IOException {
    write("memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    write("memory/docker/abc/memory.usage_in_bytes", "512\n");

    assertThat(ControlGroup.read(VERSION_1, root)).isEqualTo(new ControlGroup(null, 512L));
  }

  @Test
  void countsTheExecutorsOfTheApplicationInTheOwnGroup() throws IOException {
    process("self", "java\0Shell\0", "0::/job\n");
    process("1", "bash\0-c\0java Backend --app-id app-1\0", "0::/job\n");
    process("12", "java\0Backend\0--app-id\0app-1\0--worker-url\0w\0", "0::/job\n");
    process("13", "java\0Backend\0--executor-id\0001\0--app-id\0app-1\0", "0::/job\n");
    process("14", "java\0Backend\0--app-id\0app-1\0", "0::/other\n");
    process("15", "java\0Backend\0--app-id\0app-12\0", "0::/job\n");
    Files.createDirectory(root.resolve("16"));

    assertThat(ControlGroup.executors(root, "app-1")).isEqualTo(2);
    assertThat(ControlGroup.executors(root.resolve("none"), "app-1")).isZero();
  }

  private void process(String id, String commandLine, String group) throws IOException {
    write(id + "/cmdline", commandLine);
    write(id + "/cgroup", group);
  }

  @Test
  void fallsBackToTheRootForAPathOfTheHost() throws IOException {
    write("memory/memory.limit_in_bytes", "4096\n");
    write("memory/memory.usage_in_bytes", "512\n");

    assertThat(ControlGroup.read(VERSION_1, root)).isEqualTo(new ControlGroup(4096L, 512L));
  }

  @Test
  void readsNothingOutsideTheRoot() throws IOException {
    Files.writeString(temporary.resolve("memory.max"), "5\n");
    write("memory.max", "4096\n");

    assertThat(ControlGroup.read("0::/../..\n", root)).isEqualTo(new ControlGroup(4096L, null));
  }

  @Test
  void missingFilesMeanNoLimit() {
    assertThat(ControlGroup.read("0::/\n", root)).isEqualTo(ControlGroup.NONE);
    assertThat(ControlGroup.read("not of this form\n", root)).isEqualTo(ControlGroup.NONE);
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}

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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BootIdTest {
  @TempDir private Path directory;

  private BootId read(String text) throws IOException {
    return BootId.read(Files.writeString(directory.resolve("boot_id"), text));
  }

  @Test
  void matchesTheBootIdOfTheKernel() {
    assertThat(BootId.read(Path.of("/proc/sys/kernel/random/boot_id")))
        .isEqualTo(BootId.ofThisHost());
    assertThat(BootId.ofThisHost().isThisHost()).isTrue();
    assertThat(BootId.ofThisHost().toString()).matches("[0-9a-f]{16}");
  }

  @Test
  void differsIfAnyDigitDiffers() throws IOException {
    BootId id = read("7f2c4b0e-11d7-4f0a-9a53-0123456789ab\n");
    assertThat(id).hasToString("e57f4a2d54b0c6a1").isEqualTo(new BootId(0xe57f4a2d54b0c6a1L));
    assertThat(read("7f2c4b0e-11d7-4f0a-9a53-0123456789ac\n")).isNotEqualTo(id);
    assertThat(read("8f2c4b0e-11d7-4f0a-9a53-0123456789ab\n")).isNotEqualTo(id);
    assertThat(id.isThisHost()).isFalse();
  }

  /** Memory is then shared with no process rather than with one of another host. */
  @Test
  void isUniqueWithoutTheKernelFile() throws IOException {
    Path none = directory.resolve("none");
    assertThat(BootId.read(none)).isNotEqualTo(BootId.read(none));
    assertThat(read("not an id")).isNotEqualTo(BootId.ofThisHost());
  }
}

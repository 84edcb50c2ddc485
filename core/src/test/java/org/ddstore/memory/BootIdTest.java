// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
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
    List<LogRecord> logged = new ArrayList<>();
    Logger logger = Logger.getLogger(BootId.class.getName());
    Handler handler = new Records(logged);
    logger.addHandler(handler);
    try {
      assertThat(BootId.read(none)).isNotEqualTo(BootId.read(none));
    } finally {
      logger.removeHandler(handler);
    }
    assertThat(logged).hasSize(2).extracting(LogRecord::getLevel).containsOnly(Level.WARNING);
    assertThat(read("not an id")).isNotEqualTo(BootId.ofThisHost());
  }

  /** Keeps what the JDK logs, because these tests have no other library for it. */
  private static final class Records extends Handler {
    private final List<LogRecord> records;

    Records(List<LogRecord> records) {
      this.records = records;
    }

    @Override
    public void publish(LogRecord record) {
      records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}

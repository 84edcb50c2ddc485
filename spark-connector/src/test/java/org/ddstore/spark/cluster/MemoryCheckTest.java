// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.ddstore.contract.Needed;
import org.ddstore.spark.config.Settings;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

/** The remedies of a full disk, by the text of this machine's own error: writes to /dev/full. */
class MemoryCheckTest {
  private static final Path FULL = Path.of("/dev/full");

  /** Writes as a shard does. */
  private static void fill() {
    try (OutputStream out = Files.newOutputStream(FULL)) {
      out.write(1);
    } catch (IOException e) {
      throw new DDStoreException("cannot write row 0 to %s: %s".formatted(FULL, e), e);
    }
  }

  private static void fill(Map<String, String> settings) {
    MemoryCheck.naming(Settings.of(settings), MemoryCheckTest::fill);
  }

  @Test
  void namesTheRemediesOfAFullMount() {
    needsFullDevice();

    assertThatThrownBy(() -> fill(Map.of()))
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith("cannot write row 0 to /dev/full: ")
        .hasMessageContaining("No space left on device. Remedy: a larger mount (mount -o remount")
        .hasMessageContaining("/dev/shm")
        .hasMessageContaining("spark.ddstore.backing=file");
  }

  @Test
  void namesTheRemediesOfAFullDisk() {
    needsFullDevice();

    assertThatThrownBy(
            () ->
                fill(
                    Map.of("spark.ddstore.backing", "file", "spark.ddstore.directory", "/var/tmp")))
        .hasMessageEndingWith(
            "No space left on device. Remedy: spark.ddstore.directory on a larger disk, or more"
                + " executors");
  }

  @Test
  void passesOtherFailuresOn() {
    DDStoreException other = new DDStoreException("no", new IOException("Input/output error"));

    assertThatThrownBy(
            () ->
                MemoryCheck.naming(
                    Settings.of(Map.of()),
                    () -> {
                      throw other;
                    }))
        .isSameAs(other);
  }

  private static void needsFullDevice() {
    Needed.check(FULL.toString(), Files.isWritable(FULL), () -> "no such device");
  }
}

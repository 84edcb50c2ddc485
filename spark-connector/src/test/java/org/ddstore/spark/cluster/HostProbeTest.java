// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.cluster.HostProbe.LockedMemoryLimit;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.types.HostFacts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostProbeTest {

  @Test
  void readsThisProcess(@TempDir Path directory) {
    HostFacts facts = HostProbe.read(directory);

    assertThat(facts.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(facts.executorId()).isNull();
    assertThat(facts.hostName()).isNotBlank();
    assertThat(facts.processors()).isPositive();
    assertThat(facts.maxHeapBytes()).isBetween(1L, facts.physicalMemoryBytes());
    assertThat(facts.sharedMemoryFreeBytes()).isBetween(0L, facts.sharedMemoryTotalBytes());
    assertThat(facts.sharedMemoryFileSystem()).isNotBlank();
    assertThat(facts.executorId("7").executorId()).isEqualTo("7");
  }

  @Test
  void missingDirectoryHasNoSpace(@TempDir Path directory) {
    HostFacts facts = HostProbe.read(directory.resolve("missing"));

    assertThat(facts.sharedMemoryFileSystem()).isNull();
    assertThat(facts.sharedMemoryTotalBytes()).isNull();
    assertThat(facts.sharedMemoryFreeBytes()).isNull();
  }

  @Test
  void sharedMemoryIsATmpfs() {
    assertThat(HostProbe.read(ProcessDirectory.SHARED_MEMORY).sharedMemoryFileSystem())
        .isEqualTo("tmpfs");
  }

  @Test
  void parsesTheLockedMemoryLimit() {
    String limits =
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max open files            20000                20000                files
        Max locked memory         8388608              unlimited            bytes
        Max address space         unlimited            unlimited            bytes
        """;

    assertThat(LockedMemoryLimit.parse(limits)).isEqualTo(new LockedMemoryLimit(8388608L, null));
    assertThat(LockedMemoryLimit.parse("")).isEqualTo(new LockedMemoryLimit(null, null));
  }

  @Test
  void formatsBytesInTheLargestFittingUnit() {
    assertThat(ByteSize.format(1023)).isEqualTo("1023 B");
    assertThat(ByteSize.format(1536)).isEqualTo("1.50 KiB");
    assertThat(ByteSize.format(3L << 30)).isEqualTo("3.00 GiB");
    assertThat(ByteSize.toSetting((1L << 20) + 1)).isEqualTo("2m");
  }
}

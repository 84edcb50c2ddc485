// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalDirectoryTest {
  private static HostFacts on(String type) {
    HostFacts here = HostProbe.read(ProcessDirectory.SHARED_MEMORY);
    return new HostFacts(
        "box",
        here.pid(),
        null,
        here.user(),
        here.os(),
        here.arch(),
        here.jdk(),
        here.processors(),
        here.physicalMemoryBytes(),
        here.maxHeapBytes(),
        "/scratch/rows",
        type,
        here.sharedMemoryTotalBytes(),
        here.sharedMemoryFreeBytes(),
        null,
        null,
        null,
        null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nfs",
        "nfs4",
        "lustre",
        "gpfs",
        "cifs",
        "ceph",
        "beegfs",
        "fuse.sshfs",
        "FUSE.GlusterFS"
      })
  void rejectsANetworkFileSystemWithARemedy(String type) {
    assertThat(LocalDirectory.problem(on(type)))
        .contains(
            new Problem(
                "directory /scratch/rows on box is on a network file system (%s): mapped files need a local disk"
                    .formatted(type),
                "spark.ddstore.directory=<a directory on a local disk of every executor>, or"
                    + " spark.ddstore.backing=shm or direct"));
    assertThat(LocalDirectory.warning(on(type))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"tmpfs", "ext4", "xfs", "btrfs", "zfs", "overlay", "fuseblk"})
  void acceptsALocalFileSystem(String type) {
    assertThat(LocalDirectory.problem(on(type))).isEmpty();
    assertThat(LocalDirectory.warning(on(type))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"fuse", "fuse.fuse-overlayfs", "9p", "virtiofs"})
  void warnsOfAFileSystemThatMayBeRemote(String type) {
    assertThat(LocalDirectory.problem(on(type))).isEmpty();
    assertThat(LocalDirectory.warning(on(type)).orElseThrow())
        .startsWith(
            "directory /scratch/rows on box is on a file system of type " + type + ", which may be")
        .contains("spark.ddstore.directory");
  }

  @Test
  void aMissingDirectoryIsNotJudged() {
    HostFacts nowhere = HostProbe.read(Path.of("/nowhere"));
    assertThat(LocalDirectory.problem(nowhere)).isEmpty();
    assertThat(LocalDirectory.warning(nowhere)).isEmpty();
  }
}

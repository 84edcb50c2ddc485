// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The requirements of {@link TwoHosts} on the machine. */
public final class Requirements {
  private static final String TRIAL =
      "mount -t tmpfs tmpfs /dev/shm"
          + " && mount --bind /etc/hosts /proc/sys/kernel/random/boot_id"
          + " && ip link add eth0 type veth peer name eth1";

  private Requirements() {}

  /**
   * Returns why two hosts cannot be created here, with the remedy; empty if they can. Determined by
   * a trial that takes about 20 ms.
   */
  public static Optional<String> missing() {
    List<String> tools =
        Stream.of("ip", "tc", "unshare", "nsenter", "mount", "stat", "sh")
            .filter(tool -> !isOnPath(tool))
            .toList();
    if (!tools.isEmpty()) {
      return Optional.of(
          "two hosts need "
              + String.join(", ", tools)
              + " on the PATH: on Debian and Ubuntu, apt-get install iproute2 util-linux mount");
    }
    try {
      if (!Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))) {
        return Optional.of("two hosts need root to create namespaces: run as root");
      }
      Program.run(List.of("unshare", "-n", "-m", "-u", "sh", "-c", TRIAL), "");
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("two hosts need namespaces, tmpfs and veth: " + e.getMessage());
    }
  }

  private static boolean isOnPath(String tool) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, tool)));
  }
}

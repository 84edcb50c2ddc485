// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Mounts for one command, which end with it. */
public final class MountNamespace {
  private MountNamespace() {}

  /**
   * Returns the words before a command that finds file systems in memory. Skips the test if this
   * user may not mount.
   *
   * @param directory {@code $0} of the mounts
   * @param mounts options and place of each: {@code size=8m /dev/shm}, {@code ro "$0/disk"}
   */
  public static List<String> of(Path directory, String... mounts) throws InterruptedException {
    Needed.check(
        "a mount namespace", mayMount(), () -> "unshare -m and mount fail, they need root");
    StringBuilder script = new StringBuilder("mount --make-rprivate / && ");
    for (String mount : mounts) {
      int space = mount.indexOf(' ');
      script.append(
          "mount -t tmpfs -o %s tmpfs%s && "
              .formatted(mount.substring(0, space), mount.substring(space)));
    }
    script.append("exec \"$@\"");
    return new ArrayList<>(
        List.of("unshare", "-m", "sh", "-c", script.toString(), directory.toString()));
  }

  private static boolean mayMount() throws InterruptedException {
    try {
      Process probe =
          new ProcessBuilder("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm").start();
      return probe.waitFor(10, TimeUnit.SECONDS) && probe.exitValue() == 0;
    } catch (IOException e) {
      return false; // no unshare
    }
  }
}

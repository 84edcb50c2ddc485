// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.types.DDStoreException;

/**
 * The identity of the set of processes that share memory with this one: the same kernel, the same
 * mount of /dev/shm, the same process numbers and the same user. Host names are not used, because
 * containers of one host may have equal names and share nothing.
 */
final class HostIdentity {
  private HostIdentity() {}

  /** Returns a text that is equal where processes share memory and process ids. */
  static String ofThisProcess() {
    try {
      return "%s %s %s %s"
          .formatted(
              Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip(),
              Files.getAttribute(Path.of("/dev/shm"), "unix:dev"),
              Files.readSymbolicLink(Path.of("/proc/self/ns/pid")),
              Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException e) {
      throw new DDStoreException("cannot tell which processes share memory with this one", e);
    }
  }
}

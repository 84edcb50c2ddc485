// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.UUID;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Loggers;

/**
 * A 64-bit identifier of the running kernel. Two processes with equal ids share one page cache, so
 * a file that one of them maps shows the writes of the other. On a shared file system (NFS, Lustre,
 * GPFS) a file of another host can be opened too, but its mapping is stale and its locks may not be
 * visible on this host. All containers of a host have the id of the host; a reboot changes it.
 *
 * @param bits exclusive or of the two halves of random/boot_id, see proc_sys_kernel(5)
 */
public record BootId(long bits) {
  private static final System.Logger LOG = Loggers.of(BootId.class);
  private static final Path FILE = Path.of("/proc/sys/kernel/random/boot_id");

  private static volatile BootId local; // written once, under the lock of this class

  /**
   * Returns the id of the kernel that runs this process.
   *
   * @throws DDStoreException if it cannot be read now, because no descriptor is left
   */
  public static BootId ofThisHost() {
    return local == null ? readOnce() : local;
  }

  private static synchronized BootId readOnce() {
    if (local == null) {
      local = read(FILE);
    }
    return local;
  }

  /**
   * Reads the id from a file; a random id, which equals no other host, if this process cannot.
   *
   * @throws DDStoreException if another attempt may succeed: a random id would make this process a
   *     host of its own until it ends
   */
  static BootId read(Path file) {
    try {
      UUID id = UUID.fromString(Files.readString(file, ISO_8859_1).strip());
      return new BootId(id.getMostSignificantBits() ^ id.getLeastSignificantBits());
    } catch (IOException | IllegalArgumentException e) {
      if (isTransient(e)) {
        throw new DDStoreException("boot id file %s cannot be read: %s".formatted(file, e), e);
      }
      LOG.log(
          System.Logger.Level.WARNING,
          "boot id file {0} cannot be read ({1}): this process shares no memory with others of its host",
          file,
          e);
      return new BootId(new SecureRandom().nextLong());
    }
  }

  private static boolean isTransient(Exception e) {
    return String.valueOf(e.getMessage()).contains("Too many open files");
  }

  /** Returns whether this process may map files created under this id. */
  public boolean isThisHost() {
    return equals(ofThisHost());
  }

  /** Returns 16 hexadecimal digits. */
  @Override
  public String toString() {
    return "%016x".formatted(bits);
  }
}

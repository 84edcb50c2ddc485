package org.ddstore.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * The running kernel, in 64 bits: two processes with equal ids share one page cache, so a file that
 * one of them maps shows the other's stores. On a shared file system (NFS, Lustre, GPFS) a file of
 * another host opens as well, but its mapping is stale and its locks may be unknown here. All
 * containers of a host have the id of the host; a restart of the host gives a new one.
 *
 * @param bits of proc_sys_kernel(5), random/boot_id, the two halves combined
 */
public record BootId(long bits) {
  private static final System.Logger LOG = System.getLogger(BootId.class.getName());
  private static final BootId LOCAL = read(Path.of("/proc/sys/kernel/random/boot_id"));

  /** The id of the kernel that runs this process. */
  public static BootId ofThisHost() {
    return LOCAL;
  }

  /** Without the file nothing is taken for the same host: a random id equals no other. */
  static BootId read(Path file) {
    try {
      UUID id = UUID.fromString(Files.readString(file).strip());
      return new BootId(id.getMostSignificantBits() ^ id.getLeastSignificantBits());
    } catch (IOException | IllegalArgumentException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} cannot be read ({1}): this process shares no memory with others of its host",
          file,
          e);
      return new BootId(new SecureRandom().nextLong());
    }
  }

  /** True if files made under this id may be mapped here. */
  public boolean isThisHost() {
    return equals(LOCAL);
  }

  /** 16 hexadecimal digits. */
  @Override
  public String toString() {
    return "%016x".formatted(bits);
  }
}

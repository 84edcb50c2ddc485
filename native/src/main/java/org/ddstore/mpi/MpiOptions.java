// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;

/**
 * The options of ranks that use MPI.
 *
 * @param local address at which this process is reached by other transports, also used as its
 *     human-readable identity; its host determines the network interface that MPI uses between
 *     hosts
 * @param directory parent directory of MPI's shared-memory files, which lie in a directory of this
 *     process
 * @param callTimeout longest time that one MPI call may block; after that the JVM is ended, because
 *     nothing else ends the call
 * @param collectiveTimeout longest time that ranks wait for each other before they call MPI
 *     together
 */
public record MpiOptions(
    ProcessAddress local, Path directory, Duration callTimeout, Duration collectiveTimeout) {
  private static final int NOBODY_CONNECTS = 1;

  /** Extra time of a call, so that a late read fails before the watchdog ends the process. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  public MpiOptions {
    Objects.requireNonNull(local, "local is null");
    Objects.requireNonNull(directory, "directory is null");
    check(callTimeout, "callTimeout");
    check(collectiveTimeout, "collectiveTimeout");
  }

  /**
   * Returns the options for processes that mpirun has started.
   *
   * @param timeout value of both timeouts
   */
  public static MpiOptions ofLaunched(Duration timeout) {
    return new MpiOptions(
        new ProcessAddress(hostName(), NOBODY_CONNECTS, new SecureRandom().nextLong()),
        ProcessDirectory.SHARED_MEMORY,
        timeout,
        timeout);
  }

  /** Returns a copy whose calls last at least as long as a read with the given timeout. */
  public MpiOptions readTimeout(Duration readTimeout) {
    Duration least = readTimeout.plus(GRACE);
    return callTimeout.compareTo(least) >= 0
        ? this
        : new MpiOptions(local, directory, least, collectiveTimeout);
  }

  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      throw new DDStoreException("this host has no name", e);
    }
  }

  private static void check(Duration timeout, String name) {
    if (timeout.isZero() || timeout.isNegative()) {
      throw new IllegalArgumentException(name + " " + timeout + " is not positive");
    }
  }
}

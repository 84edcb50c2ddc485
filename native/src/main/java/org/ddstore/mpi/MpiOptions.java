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
 * How ranks use MPI.
 *
 * @param local where this process is reached by other means, for people and as its identity; its
 *     host names the network interface that MPI is to use between hosts
 * @param directory under which MPI's files of shared memory lie, in a directory of this process
 * @param callTimeout how long one call of MPI may block; after that the JVM is ended, because
 *     nothing else ends the call
 * @param collectiveTimeout how long ranks wait for each other before they call MPI together
 */
public record MpiOptions(
    ProcessAddress local, Path directory, Duration callTimeout, Duration collectiveTimeout) {
  private static final int NOBODY_CONNECTS = 1;

  /** A read that is late gets its error before MPI is given up with its process. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  public MpiOptions {
    Objects.requireNonNull(local, "local");
    Objects.requireNonNull(directory, "directory");
    check(callTimeout, "callTimeout");
    check(collectiveTimeout, "collectiveTimeout");
  }

  /**
   * For processes that mpirun has started.
   *
   * @param timeout of everything
   */
  static MpiOptions ofLaunched(Duration timeout) {
    return new MpiOptions(
        new ProcessAddress(hostName(), NOBODY_CONNECTS, new SecureRandom().nextLong()),
        ProcessDirectory.SHARED_MEMORY,
        timeout,
        timeout);
  }

  /** The same, but for calls that have time for reads which may take so long. */
  MpiOptions withReadTimeout(Duration readTimeout) {
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

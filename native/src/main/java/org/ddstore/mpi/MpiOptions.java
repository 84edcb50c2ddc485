package org.ddstore.mpi;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.ddstore.ProcessAddress;

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
  public MpiOptions {
    Objects.requireNonNull(local, "local");
    Objects.requireNonNull(directory, "directory");
    check(callTimeout, "callTimeout");
    check(collectiveTimeout, "collectiveTimeout");
  }

  private static void check(Duration timeout, String name) {
    if (timeout.isZero() || timeout.isNegative()) {
      throw new IllegalArgumentException(name + " " + timeout + " is not positive");
    }
  }
}

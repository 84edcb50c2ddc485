// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.types.DDStoreException;

/**
 * The process manager that Open MPI uses in its own process: the native library answers PMI-1 and
 * calls back to exchange the data that MPI sends to the other ranks.
 */
final class ProcessManager {
  private static final Path PTRACE_SCOPE = Path.of("/proc/sys/kernel/yama/ptrace_scope");

  private ProcessManager() {}

  /** The exchange of the data of MPI's start. Called by the thread that initialises MPI. */
  interface Exchange {
    /**
     * Exchanges bytes between all ranks. Collective.
     *
     * @return concatenated bytes of all ranks, in any order
     */
    byte[] exchange(byte[] mine);
  }

  /**
   * Sets the answers of PMI in this process from now on.
   *
   * @param clique ranks that share memory with this one, itself included, ascending
   */
  static void open(int rank, int size, int[] clique, Exchange exchange) {
    NativeLibrary.problem()
        .ifPresent(
            reason -> {
              throw new DDStoreException("libddstore.so is not loaded: " + reason);
            });
    int error = open(rank, size, clique, (Object) exchange);
    if (error != 0) {
      throw new DDStoreException(
          "PMI cannot be set up for rank %d of %d: error %d".formatted(rank, size, -error));
    }
  }

  /** Discards the state set by {@link #open}, for a world whose start failed. Idempotent. */
  static native void close();

  /** Sets an environment variable as seen by C code; System.getenv is unaffected. */
  static void setEnvironment(String name, String value) {
    int error = setEnvironment(bytes(name), bytes(value));
    if (error != 0) {
      throw new DDStoreException("cannot set %s=%s: error %d".formatted(name, value, -error));
    }
  }

  /** Removes an environment variable as seen by C code; System.getenv is unaffected. */
  static void unsetEnvironment(String name) {
    int error = setEnvironment(bytes(name), null);
    if (error != 0) {
      throw new DDStoreException("cannot unset %s: error %d".formatted(name, -error));
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns whether this process can read the memory of other processes of the same user without
   * their help: not if a container filters the system call, or the kernel restricts it to
   * privileged processes.
   */
  static boolean mayReadProcesses() {
    return checkProcessRead() == 0 && !isRestricted(PTRACE_SCOPE);
  }

  /** Returns whether only privileged processes may read; with 1 a process can admit others. */
  private static boolean isRestricted(Path scope) {
    try {
      return Integer.parseInt(Files.readString(scope).strip()) > 1;
    } catch (IOException | NumberFormatException e) {
      return false; // a kernel without this setting
    }
  }

  private static native int checkProcessRead();

  private static native int open(int rank, int size, int[] clique, Object exchange);

  /**
   * Sets or removes an environment variable.
   *
   * @param value new value; null to remove the variable
   */
  private static native int setEnvironment(byte[] name, byte[] value);
}

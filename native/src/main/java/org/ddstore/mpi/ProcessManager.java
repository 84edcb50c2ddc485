package org.ddstore.mpi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.types.DDStoreException;

/**
 * The process manager that Open MPI finds in its own process: our native library answers PMI-1, and
 * calls back to exchange what MPI has to tell the other ranks.
 */
final class ProcessManager {
  private static final Path PTRACE_SCOPE = Path.of("/proc/sys/kernel/yama/ptrace_scope");

  private ProcessManager() {}

  /** Carries what MPI's start exchanges. Called by the thread that initialises MPI. */
  interface Exchange {
    /**
     * Collective.
     *
     * @return what all ranks gave, one after the other, in any order
     */
    byte[] exchange(byte[] mine);
  }

  /**
   * What PMI says from now on in this process.
   *
   * @param clique the ranks that share memory with this one, itself included, ascending
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

  /** Forgets what {@link #open} said, for a world that did not come to be. Idempotent. */
  static native void close();

  /** Sets a variable of the environment that C sees; what System.getenv says stays as it was. */
  static void setEnvironment(String name, String value) {
    int error = setEnvironment(bytes(name), bytes(value));
    if (error != 0) {
      throw new DDStoreException("cannot set %s=%s: error %d".formatted(name, value, -error));
    }
  }

  /** Takes a variable away from C, if it is there; System.getenv goes on to have it. */
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
   * Whether this process may read the memory of other processes of its user without their help: not
   * if a container filters the call, nor if the kernel leaves it to privileged processes.
   */
  static boolean mayReadProcesses() {
    return checkProcessRead() == 0 && !isRestricted(PTRACE_SCOPE);
  }

  /** 2 and more are for privileged processes; with 1 a process may let others in, as MPI does. */
  private static boolean isRestricted(Path scope) {
    try {
      return Integer.parseInt(Files.readString(scope).strip()) > 1;
    } catch (IOException | NumberFormatException e) {
      return false; // a kernel without it
    }
  }

  private static native int checkProcessRead();

  private static native int open(int rank, int size, int[] clique, Object exchange);

  /**
   * @param value null to unset it
   */
  private static native int setEnvironment(byte[] name, byte[] value);
}

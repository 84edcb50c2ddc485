// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.concurrent.Callable;

/** A parser of untrusted bytes, as fuzz tests call it: a documented exception is a legal result. */
public final class Untrusted {
  /** Memory that a parser may allocate for a small input; the first one also loads classes. */
  private static final long MAX_ALLOCATED_BYTES = 256 << 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Untrusted() {}

  /**
   * Calls a parser.
   *
   * @param legal classes of the exceptions that the parser documents
   * @return the result; empty if it is null or the parser refuses the bytes
   * @throws AssertionError if it throws another exception, or allocates more than 256 MiB
   */
  @SafeVarargs
  public static <T> Optional<T> parse(Callable<T> parser, Class<? extends Exception>... legal) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      return Optional.ofNullable(parser.call());
    } catch (Exception e) {
      for (Class<? extends Exception> each : legal) {
        if (each.isInstance(e)) {
          return Optional.empty();
        }
      }
      throw new AssertionError("undocumented " + e, e);
    } finally {
      checkAllocated(THREADS.getCurrentThreadAllocatedBytes() - before);
    }
  }

  /** Checks kept inputs; in a search, the loading of instrumented classes takes more. */
  private static void checkAllocated(long bytes) {
    if (bytes > MAX_ALLOCATED_BYTES && System.getenv("JAZZER_FUZZ") == null) {
      throw new AssertionError("%,d bytes allocated".formatted(bytes));
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.PrintStream;
import java.util.concurrent.RejectedExecutionException;

/**
 * Standard error without the stack traces that Scala prints while Spark stops: a future whose
 * callbacks come after the end of their threads has nobody left to tell.
 */
final class RejectedTaskFilter extends PrintStream {
  private final PrintStream target;

  /** Whether a thread is printing the rest of a stack trace. */
  private final ThreadLocal<Boolean> inTrace = ThreadLocal.withInitial(() -> false);

  private RejectedTaskFilter(PrintStream target) {
    super(target, true);
    this.target = target;
  }

  /** Replaces standard error until {@link #close()}. */
  static RejectedTaskFilter install() {
    RejectedTaskFilter filter = new RejectedTaskFilter(System.err);
    System.setErr(filter);
    return filter;
  }

  /** A throwable prints itself and each further line of its stack trace by this method. */
  @Override
  public void println(Object line) {
    boolean isTraceLine = line instanceof String text && text.startsWith("\t");
    inTrace.set(line instanceof RejectedExecutionException || (isTraceLine && inTrace.get()));
    if (!inTrace.get()) {
      super.println(line);
    }
  }

  /** Restores standard error. */
  @Override
  public void close() {
    flush();
    if (System.err == this) {
      System.setErr(target);
    }
  }
}

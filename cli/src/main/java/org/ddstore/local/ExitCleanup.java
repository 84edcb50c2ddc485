// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

/** A clean-up that runs at {@link #close()}, or in a shutdown hook when the JVM exits before. */
public final class ExitCleanup implements AutoCloseable {
  private final Runnable cleanup;
  private final Thread atExit;

  /**
   * Registers the clean-up.
   *
   * @param threadName name of the thread that runs it when the JVM exits
   */
  public ExitCleanup(String threadName, Runnable cleanup) {
    this.cleanup = cleanup;
    this.atExit = new Thread(cleanup, threadName);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Runs the clean-up, unless the JVM is shutting down and therefore runs it. Idempotent. */
  @Override
  public void close() {
    boolean isFirst;
    try {
      isFirst = Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      return; // the JVM is shutting down
    }
    if (isFirst) {
      cleanup.run();
    }
  }

  @Override
  public String toString() {
    return "ExitCleanup[%s]".formatted(atExit.getName());
  }
}

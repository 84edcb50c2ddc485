// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * The end of a command by a signal, such as Ctrl+C: prints one line, and nothing after it, because
 * what Spark and the command say while both are taken down is not about the data. The JVM exits
 * with 128 and the number of the signal, and shutdown hooks remove what the command has started.
 */
public final class Interruption {
  private static final AtomicBoolean HAS_COME = new AtomicBoolean();

  private Interruption() {}

  /**
   * Runs a command and ends the JVM with its status.
   *
   * @param command returns the exit status
   */
  public static void exitAfter(java.util.function.IntSupplier command) {
    Thread hook = new Thread(Interruption::come, "ddstore-interruption");
    Runtime.getRuntime().addShutdownHook(hook);
    int status = command.getAsInt();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is being shut down by a signal, whose status counts.
    }
    System.exit(status);
  }

  /** Returns whether a signal ends this JVM: nothing is printed any more. */
  public static boolean hasCome() {
    return HAS_COME.get();
  }

  private static void come() {
    HAS_COME.set(true);
    PrintStream err = System.err;
    PrintStream none = new PrintStream(OutputStream.nullOutputStream(), false);
    System.setErr(none);
    System.setOut(none);
    err.print(Progress.isTerminal() ? "\r\u001B[2K" : ""); // of the bar
    err.println("ddstore: interrupted");
    err.flush();
    Configurator.setAllLevels("", Level.OFF);
  }
}

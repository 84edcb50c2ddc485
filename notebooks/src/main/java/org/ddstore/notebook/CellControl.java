// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import jdk.jshell.execution.DirectExecutionControl;
import jdk.jshell.spi.ExecutionControl.ClassBytecodes;
import jdk.jshell.spi.ExecutionControl.NotImplementedException;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellStop;

/**
 * A runner of snippets of JShell in the calling thread of this JVM, which keeps their results and
 * exceptions. A snippet can be interrupted; the compiler cannot, because an interrupt would close
 * the jars that it reads.
 */
final class CellControl extends DirectExecutionControl {
  private final CellClasses classes;
  private final Object lock = new Object();

  /** The thread that runs code of a cell, or null. Guarded by {@link #lock}. */
  private Thread runner;

  private Object value;
  private Throwable failure;

  CellControl(CellClasses classes) {
    super(classes);
    this.classes = classes;
  }

  /** Returns the result of the last snippet. */
  Object value() {
    return value;
  }

  /** Returns the exception of the last snippet, or null. */
  Throwable failure() {
    return failure;
  }

  /** Forgets the last snippet. */
  void reset() {
    value = null;
    failure = null;
  }

  /** Accepts classes that have not changed, so that their variables keep their values. */
  @Override
  public void redefine(ClassBytecodes[] compiled) throws NotImplementedException {
    for (ClassBytecodes each : compiled) {
      if (!classes.isKnown(each.name(), each.bytecodes())) {
        throw new NotImplementedException("JShell loads changed snippets as new classes");
      }
    }
  }

  @Override
  protected String invoke(Method snippet) throws Exception {
    try {
      value = interruptibly(() -> snippet.invoke(null));
    } catch (InvocationTargetException e) {
      failure = e.getCause();
      throw e;
    } catch (CellStop.StoppedError e) {
      failure = e; // interrupted while the compiler ran
      throw e;
    }
    return "";
  }

  /**
   * Runs code of a cell so that {@link #interrupt} reaches it.
   *
   * @throws CellStop.StoppedError if an interrupt came before
   */
  <T> T interruptibly(Callable<T> code) throws Exception {
    synchronized (lock) {
      CellStop.check();
      runner = Thread.currentThread();
    }
    try {
      return code.call();
    } finally {
      synchronized (lock) {
        runner = null;
        Thread.interrupted(); // meant for the code that has ended
      }
    }
  }

  /** Interrupts the code that runs, or else the code that would run next. */
  void interrupt() {
    synchronized (lock) {
      CellStop.request();
      if (runner != null) {
        runner.interrupt();
      }
    }
  }
}

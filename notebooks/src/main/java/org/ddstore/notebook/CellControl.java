// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import jdk.jshell.execution.DirectExecutionControl;
import jdk.jshell.execution.LoaderDelegate;
import jdk.jshell.spi.ExecutionControl.ClassBytecodes;
import jdk.jshell.spi.ExecutionControl.ClassInstallException;
import jdk.jshell.spi.ExecutionControl.InternalException;
import jdk.jshell.spi.ExecutionControl.NotImplementedException;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellStop;

/**
 * A runner of snippets of JShell in the calling thread of this JVM, which keeps their results and
 * exceptions. A snippet can be interrupted; the compiler cannot, because an interrupt would close
 * the jars that it reads.
 */
final class CellControl extends DirectExecutionControl {
  /** A check of a compiled snippet before it runs. */
  @FunctionalInterface
  interface Check {
    /** Throws if the class around the snippet must not run. */
    void check(String className) throws CellException;
  }

  private final CellClasses classes;
  private final Check check;
  private final Object lock = new Object();

  /** The thread that runs code of a cell, or null. Guarded by {@link #lock}. */
  private Thread runner;

  private Object value;
  private Throwable failure;

  CellControl(CellClasses classes, Check check) {
    super(new Loader(classes));
    this.classes = classes;
    this.check = check;
  }

  /** Returns the result of the last snippet. */
  Object value() {
    return value;
  }

  /** Returns the exception of the last snippet, or of the check before it, or null. */
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
      check.check(snippet.getDeclaringClass().getName());
      value = interruptibly(() -> snippet.invoke(null));
    } catch (InvocationTargetException e) {
      failure = e.getCause();
      throw e;
    } catch (CellException | CellStop.StoppedError e) {
      failure = e; // refused, or interrupted while the compiler ran
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

  /** Hands the classes of snippets to the class loader of all cells. */
  private record Loader(CellClasses classes) implements LoaderDelegate {
    @Override
    public void load(ClassBytecodes[] compiled) throws ClassInstallException {
      try {
        for (ClassBytecodes each : compiled) {
          classes.add(each.name(), each.bytecodes());
        }
      } catch (IOException e) {
        throw new ClassInstallException(
            "cannot write classes for executors: " + e, new boolean[compiled.length]);
      }
    }

    @Override
    public void classesRedefined(ClassBytecodes[] compiled) {
      throw new UnsupportedOperationException("no class is replaced");
    }

    @Override
    public void addToClasspath(String path) throws InternalException {
      throw new InternalException("the class path is fixed: " + path);
    }

    @Override
    public Class<?> findClass(String name) throws ClassNotFoundException {
      return classes.loadClass(name);
    }
  }
}

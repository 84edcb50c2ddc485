// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.local.ScratchDirectory;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellStop;

/**
 * The cells of one notebook: a JShell, and a Spark application whose executors load the classes of
 * cells. Code of cells runs in the calling thread. Owned by the caller, who closes it. Cells are
 * run by one thread at a time; {@link #interrupt} and {@link #close} can be called by any thread.
 */
public final class NotebookEngine implements AutoCloseable {
  private static final String SESSION = "spark";
  private static final String PRELUDE =
      """
      import java.nio.file.*;
      import java.time.*;
      import java.util.*;
      import java.util.stream.*;
      import org.apache.spark.sql.*;
      import static org.apache.spark.sql.functions.*;
      import org.ddstore.*;
      import org.ddstore.checkpoint.*;
      import org.ddstore.collective.*;
      import org.ddstore.loader.*;
      import org.ddstore.sampling.*;
      import org.ddstore.spark.*;
      import org.ddstore.spark.types.*;
      import org.ddstore.types.*;
      import org.knowm.xchart.*;
      import static org.ddstore.notebook.Notebook.display;
      SparkSession %s;
      """
          .formatted(SESSION);

  private static final String SQL = "%%sql";
  private static final String SQL_COMMENT = "--[^\\n]*|/\\*.*?\\*/";
  private static final Pattern SQL_STATEMENT =
      Pattern.compile(
          "(?s)(?:%s|'(?:\\\\.|[^'\\\\])*'|\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|[^;'\"`/-]+|[^;])+"
              .formatted(SQL_COMMENT));

  private final CellOutput output;
  private final ScratchDirectory scratch;
  private final CellClasses classes;
  private final Snippets snippets;
  private final CompletableFuture<NotebookSpark> spark = new CompletableFuture<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private boolean hasSession;

  private NotebookEngine(ScratchDirectory scratch, CellOutput output) {
    this.output = output;
    this.scratch = scratch;
    this.classes = new CellClasses(NotebookEngine.class.getClassLoader(), scratch.path());
    this.snippets = new Snippets(classes);
  }

  /**
   * Opens a notebook, and returns before Spark has started; the first cell waits for it.
   *
   * @param output where cells show values
   */
  public static NotebookEngine open(NotebookOptions options, CellOutput output) {
    Notebook.showOn(output);
    NotebookEngine engine;
    try {
      engine = new NotebookEngine(ScratchDirectory.create("ddstore-notebook-"), output);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a folder for classes of cells", e);
    }
    Thread thread = new Thread(() -> engine.startSpark(options), "ddstore-start-spark");
    thread.setDaemon(true);
    thread.setContextClassLoader(engine.classes); // inherited by the threads of Spark
    thread.start();
    engine.prepare();
    return engine;
  }

  private void startSpark(NotebookOptions options) {
    try {
      spark.complete(NotebookSpark.start(options, classes.folder()));
    } catch (Throwable e) { // Spark throws checked exceptions that it does not declare
      spark.completeExceptionally(e);
    }
  }

  private void prepare() {
    try {
      snippets.eval(new CellText(0, PRELUDE));
      snippets.keep();
    } catch (Throwable e) {
      throw new IllegalStateException("cannot prepare the cells", e);
    }
  }

  /**
   * Runs a cell: Java code, or {@code %%sql} and statements that semicolons separate. Returns the
   * value of the last expression; runs a Spark job if it is a DataFrame.
   *
   * @param number number of the cell, for places in errors
   * @return empty if the cell does not end with an expression whose value is to be shown
   * @throws CellException if the cell cannot be compiled, or its code fails or is interrupted
   */
  public Optional<Shown> run(int number, String code) throws CellException {
    CellControl control = snippets.control();
    return inCell(
        session -> {
          CellResult result =
              code.strip().startsWith(SQL)
                  ? control.interruptibly(() -> sql(session, code.strip().substring(SQL.length())))
                  : snippets.eval(new CellText(number, code));
          // In the same cell: an interrupt that has come meanwhile ends it here.
          return result.isShown()
              ? Optional.of(control.interruptibly(() -> Shown.of(result.value())))
              : Optional.empty();
        });
  }

  private static CellResult sql(SparkSession session, String code) {
    Dataset<Row> last = null;
    for (Matcher next = SQL_STATEMENT.matcher(code); next.find(); ) {
      if (!next.group().replaceAll("(?s)" + SQL_COMMENT, "").isBlank()) {
        last = session.sql(next.group().strip());
      }
    }
    return last == null || last.columns().length == 0
        ? CellResult.NONE
        : new CellResult(true, last);
  }

  /**
   * Forgets the variables, methods, classes and imports of all cells. Spark goes on, with its
   * stores.
   *
   * @throws CellException if Spark has not started
   */
  public void reset() throws CellException {
    inCell(
        session -> {
          snippets.reset();
          return null;
        });
  }

  /** Code that runs for a cell. */
  @FunctionalInterface
  private interface CellCode<T> {
    T run(SparkSession session) throws Throwable;
  }

  private <T> T inCell(CellCode<T> code) throws CellException {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + scratch);
    }
    Thread thread = Thread.currentThread();
    ClassLoader former = thread.getContextClassLoader();
    thread.setContextClassLoader(classes);
    CellStop.clear();
    try {
      return code.run(session());
    } catch (Throwable e) {
      if (CellStop.isRequested()) {
        throw new CellException("Interrupted", "the cell was interrupted", e);
      }
      throw e instanceof CellException known ? known : CellException.of(e, snippets::frame);
    } finally {
      if (CellStop.isRequested()) {
        cancelJobs(); // those that started just before the cell ended
      }
      CellStop.clear();
      thread.setContextClassLoader(former);
    }
  }

  /** Returns the session of Spark, once it has started; gives it to the cells the first time. */
  private SparkSession session() throws Exception {
    NotebookSpark started;
    if (!spark.isDone()) {
      output.progress("starting Spark ...");
    }
    try {
      started = snippets.control().interruptibly(spark::get);
    } catch (ExecutionException e) {
      String message = "Spark has not started: %s".formatted(e.getCause().getMessage());
      throw new CellException(
          "SparkStartError", message + "\nrestart the kernel after a correction", e.getCause());
    }
    SparkSession session = started.beginCell();
    if (!hasSession) {
      SparkSession.setActiveSession(session);
      snippets.set(SESSION, session);
      hasSession = true;
      output.progress(started.startLine());
    }
    return session;
  }

  /**
   * Returns the texts that can continue code.
   *
   * @param start receives the position that a text replaces
   */
  public List<String> complete(String code, int[] start) {
    return snippets.complete(code, start);
  }

  /** Stops the running cell and the Spark jobs of the notebook. Does not wait for its end. */
  public void interrupt() {
    snippets.control().interrupt();
    cancelJobs();
  }

  private void cancelJobs() {
    if (spark.isDone() && !spark.isCompletedExceptionally()) {
      spark.join().cancelJobs();
    }
  }

  /**
   * Interrupts the running cell, stops Spark, and deletes the files. Waits for a start of Spark
   * that is under way. Idempotent.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    interrupt();
    try {
      Optional.ofNullable(spark.handle((started, failure) -> started).join())
          .ifPresent(NotebookSpark::close);
    } finally {
      snippets.close();
      scratch.close();
    }
  }
}

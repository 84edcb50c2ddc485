// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.ddstore.cli.ScratchDirectory;
import org.ddstore.notebook.classes.CellClasses;
import org.ddstore.notebook.classes.CellStop;
import org.ddstore.notebook.display.MimeBundle;
import org.ddstore.notebook.display.Renderers;

/**
 * The cells of one notebook: a JShell, and a Spark application whose executors load the classes of
 * cells. Code of cells runs in one thread of its own. Owned by the caller, who closes it. The
 * methods can be called by any thread; they wait for the running cell, except {@link #interrupt}
 * and {@link #progress}.
 */
public final class NotebookEngine implements AutoCloseable {
  private static final long CANCEL_INTERVAL_MS = 200;
  private static final long END_OF_CELL_MS = 10_000;

  private final ScratchDirectory scratch;
  private final CellClasses classes;
  private final ExecutorService cells;
  private final CompletableFuture<NotebookSpark> spark = new CompletableFuture<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Future<?> prepared;

  /** Used by the thread of the cells only. */
  private Snippets snippets;

  private boolean hasSession;

  /** Set while a cell runs, in the thread of the cells. */
  private volatile CellControl runningCell;

  private volatile boolean isAnnounced;

  private NotebookEngine(ScratchDirectory scratch) {
    this.scratch = scratch;
    this.classes = new CellClasses(NotebookEngine.class.getClassLoader(), scratch.path());
    this.cells = Executors.newSingleThreadExecutor(code -> thread("ddstore-cells", code));
    this.prepared = cells.submit(this::prepare, null);
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
      engine = new NotebookEngine(ScratchDirectory.create("ddstore-notebook-"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a folder for classes of cells", e);
    }
    engine.thread("ddstore-start-spark", () -> engine.startSpark(options)).start();
    return engine;
  }

  /** Returns a thread whose code, and the threads that it starts, find the classes of cells. */
  private Thread thread(String name, Runnable code) {
    Thread thread = new Thread(code, name);
    thread.setDaemon(true);
    thread.setContextClassLoader(classes);
    return thread;
  }

  private void startSpark(NotebookOptions options) {
    try {
      spark.complete(NotebookSpark.start(options, classes));
    } catch (Throwable e) { // Spark throws checked exceptions that it does not declare
      spark.completeExceptionally(e);
    }
  }

  private void prepare() {
    snippets = new Snippets(classes);
    try {
      snippets.eval(new CellText(0, Prelude.SOURCE));
      snippets.keep();
    } catch (CellException e) {
      throw new IllegalStateException(String.join("\n", e.report()), e);
    }
  }

  /** The time from the announcement of a cell to its end. */
  public interface Announcement extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Announces a cell, so that an {@link #interrupt} stops it although its code does not run yet, or
   * its result is being shown. Closed by the caller when the cell has ended. One at a time.
   */
  public Announcement announce() {
    CellStop.clear();
    isAnnounced = true;
    return () -> {
      isAnnounced = false;
      CellStop.clear();
    };
  }

  /**
   * Runs a cell: Java code, or a magic.
   *
   * @param number number of the cell, for places in errors
   * @throws CellException if the cell cannot be compiled, or its code fails or is interrupted
   */
  public CellResult run(int number, String code) throws CellException {
    CellText cell = new CellText(number, code);
    return inCell(
        () -> {
          SparkSession session = session();
          return Magics.isMagic(code)
              ? snippets.control().interruptibly(() -> Magics.run(cell, session))
              : snippets.eval(cell);
        });
  }

  /**
   * Forgets the variables, methods, classes and imports of all cells. Spark goes on, with its
   * stores.
   *
   * @throws CellException if Spark has not started
   */
  public void reset() throws CellException {
    inCell(
        () -> {
          session();
          snippets.reset();
          return CellResult.NONE;
        });
  }

  /**
   * Returns the forms in which a value is shown; runs a Spark job if it is a DataFrame.
   *
   * @throws CellException if the job fails or is interrupted
   */
  public MimeBundle render(Object value) throws CellException {
    return inCell(
        () -> {
          session();
          return snippets.control().interruptibly(() -> Renderers.render(value));
        });
  }

  /** Runs code in the thread of the cells, and turns its exceptions into reports. */
  private <T> T inCell(Callable<T> code) throws CellException {
    Future<T> running =
        submit(
            () -> {
              forgetInterrupts();
              runningCell = snippets.control();
              try {
                return code.call();
              } finally {
                cancelLateJobs();
                runningCell = null;
              }
            });
    try {
      return uninterruptibly(running);
    } catch (ExecutionException e) {
      throw report(e.getCause());
    } finally {
      forgetInterrupts();
    }
  }

  /** Forgets interrupts before or after a cell that is not announced. */
  private void forgetInterrupts() {
    if (!isAnnounced) {
      CellStop.clear();
    }
  }

  private <T> Future<T> submit(Callable<T> code) {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return cells.submit(
        () -> {
          prepared.get();
          return code.call();
        });
  }

  private CellException report(Throwable failure) {
    if (CellStop.isRequested()) {
      return new CellException(
          "Interrupted", "the cell was interrupted", List.of("the cell was interrupted"), failure);
    }
    if (failure instanceof CellException known) {
      return known;
    }
    FailureReport report =
        new FailureReport(
            snippets::frame,
            snippets::holders,
            () -> startedSpark().flatMap(NotebookSpark::servingProblem));
    return failure instanceof CodeFailure code
        ? report.exception(code.getCause(), code.place())
        : report.exception(failure, Optional.empty());
  }

  /** Begins a cell in Spark, once it has started; gives the session to the cells the first time. */
  private SparkSession session() throws Exception {
    NotebookSpark started;
    try {
      started = snippets.control().interruptibly(spark::get);
    } catch (ExecutionException e) {
      String message = "Spark has not started: %s".formatted(e.getCause().getMessage());
      throw new CellException(
          "SparkStartError",
          message,
          List.of(message, "restart the kernel after a correction"),
          e.getCause());
    }
    if (!hasSession) {
      SparkSession.setActiveSession(started.session());
      snippets.set(Prelude.SESSION, started.session());
      hasSession = true;
    }
    started.jobs().begin();
    return started.session();
  }

  private static <T> T uninterruptibly(Future<T> future) throws ExecutionException {
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return future.get();
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Calls a function with the assistant for code that is being written. */
  public <T> T assist(Function<CodeAssist, T> question) {
    try {
      return uninterruptibly(submit(() -> question.apply(new CodeAssist(snippets.analysis()))));
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    }
  }

  /**
   * Stops the running or announced cell and the Spark jobs that run for it. Does not wait for its
   * end.
   */
  public void interrupt() {
    if (runningCell == null && !isAnnounced) {
      return;
    }
    CellStop.request(); // stops a cell that begins now
    CellControl cell = runningCell;
    if (cell != null) {
      cell.interrupt();
      thread("ddstore-cancel-jobs", () -> cancelJobs(cell)).start();
    }
  }

  /** Cancels jobs of an interrupted cell that started just before it ended. */
  private void cancelLateJobs() {
    if (CellStop.isRequested()) {
      startedSpark().ifPresent(started -> started.jobs().cancel());
    }
  }

  /** Cancels jobs until the cell has ended: its code may start another one after the first. */
  private void cancelJobs(CellControl cell) {
    while (runningCell == cell && CellStop.isRequested()) {
      startedSpark().ifPresent(started -> started.jobs().cancel());
      try {
        TimeUnit.MILLISECONDS.sleep(CANCEL_INTERVAL_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Returns the progress of the Spark jobs that run; empty if none runs. */
  public Optional<JobProgress> progress() {
    return startedSpark().flatMap(started -> started.jobs().progress());
  }

  private Optional<NotebookSpark> startedSpark() {
    return spark.isDone() && !spark.isCompletedExceptionally()
        ? Optional.of(spark.join())
        : Optional.empty();
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
    cells.shutdown();
    try {
      if (cells.awaitTermination(END_OF_CELL_MS, TimeUnit.MILLISECONDS) && snippets != null) {
        snippets.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      spark.handle((started, failure) -> started).join();
      startedSpark().ifPresent(NotebookSpark::close);
    } finally {
      scratch.close();
    }
  }

  @Override
  public String toString() {
    return "NotebookEngine[%s]".formatted(scratch.path());
  }
}

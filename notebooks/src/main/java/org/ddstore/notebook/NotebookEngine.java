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
import org.ddstore.local.ScratchDirectory;
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

  private final Object lock = new Object();

  /** Set while a cell runs, in the thread of the cells. Changed under {@link #lock}. */
  private volatile CellControl runningCell;

  /** The announcement that is open, or null. Guarded by {@link #lock}. */
  private Announcement announced;

  /** True if the announced cell must stop before it runs. Guarded by {@link #lock}. */
  private boolean isStopPending;

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

  /** An announced cell, until its end. */
  public final class Announcement implements AutoCloseable {
    private Announcement() {}

    /** Ends the cell. Idempotent. */
    @Override
    public void close() {
      synchronized (lock) {
        if (announced == this) {
          announced = null;
          isStopPending = false;
        }
      }
    }
  }

  /**
   * Announces a cell, so that an {@link #interrupt} also stops it before its code runs and while
   * its result is rendered. The caller closes the announcement when the cell has ended. Only one is
   * open at a time.
   */
  public Announcement announce() {
    synchronized (lock) {
      isStopPending = false;
      announced = new Announcement();
      return announced;
    }
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
              beginCode();
              try {
                return code.call();
              } finally {
                cancelLateJobs();
                endCode();
              }
            });
    try {
      return uninterruptibly(running);
    } catch (ExecutionException e) {
      throw report(e.getCause());
    } finally {
      CellStop.clear();
    }
  }

  /** Lets interrupts reach the code that follows; throws if one came since the announcement. */
  private void beginCode() {
    synchronized (lock) {
      CellStop.clear();
      if (isStopPending) {
        CellStop.request();
        CellStop.check();
      }
      runningCell = snippets.control();
    }
  }

  private void endCode() {
    synchronized (lock) {
      runningCell = null;
      isStopPending = announced != null && CellStop.isRequested(); // came too late for this code
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
    CellControl cell;
    synchronized (lock) {
      cell = runningCell;
      if (cell == null) {
        isStopPending = announced != null;
        return;
      }
      cell.interrupt();
    }
    thread("ddstore-cancel-jobs", () -> cancelJobs(cell)).start();
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

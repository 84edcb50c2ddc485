// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.BufferUnderflowException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NotDirectoryException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.DataFormatException;
import java.util.zip.ZipException;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkThrowable;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * The distinction between transient and permanent failures. Permanent are failures of data, queries
 * and file systems, exceptions that the user's code raises, and a lack of memory. An unknown
 * failure counts as transient: a needless attempt costs time, a missing attempt costs the job.
 *
 * <p>A lack of memory is permanent although another task may have used the memory: the next attempt
 * needs as much, and each attempt ends an executor with the resident shards that it holds.
 *
 * @param retriesTaskExceptions whether exceptions of the user's code and a lack of memory are
 *     transient, too
 */
public record RetryPolicy(boolean retriesTaskExceptions) implements Serializable {
  private static final int MAX_CAUSE_CHARS = 500;

  private static final long serialVersionUID = 1L;

  /** Messages of the C library about file systems that another attempt finds unchanged. */
  private static final Pattern UNUSABLE_FILE_SYSTEM =
      Pattern.compile(
          "No space left on device|Disk quota exceeded|Read-only file system|Permission denied");

  /** SQLSTATE classes of bad data, bad queries and unsupported features. */
  private static final Set<String> PERMANENT_SQL_STATES = Set.of("22", "42", "0A");

  /** Spark's error condition, since 4.0, of a file whose reader has thrown. */
  private static final String FAILED_READ = "FAILED_READ_FILE";

  private static final String FAILED_READ_MESSAGE = "Encountered error while reading file";

  private static final List<String> FORMATS =
      List.of(
          "org.apache.parquet.",
          "org.apache.orc.",
          "org.apache.avro.",
          "org.xerial.snappy.",
          "com.github.luben.zstd.",
          "net.jpountz.lz4.");

  /** Exceptions of decoders that read corrupt bytes. */
  private static final List<Class<? extends Exception>> FORMAT_ERRORS =
      List.of(
          UnsupportedOperationException.class,
          IllegalArgumentException.class,
          IndexOutOfBoundsException.class,
          NegativeArraySizeException.class,
          ArithmeticException.class,
          ClassCastException.class,
          NullPointerException.class,
          BufferUnderflowException.class,
          ZipException.class,
          DataFormatException.class,
          FileNotFoundException.class);

  public static final String NO_OTHER = "; another attempt would fail in the same way";

  private static final String CAUSED_BY = "Caused by: ";

  /** SQLSTATE of Spark's exception around one of a user's function. */
  private static final String USER_FUNCTION = "39000";

  /** Failures outside of the code that throws them. */
  private static final List<Class<? extends Exception>> OUTSIDE =
      List.of(
          IOException.class,
          InterruptedException.class,
          TimeoutException.class,
          CancellationException.class,
          SQLException.class);

  private static final String NO_MEMORY = OutOfMemoryError.class.getName();

  /** Spark's descriptions of an executor that ended with exit code 52, on all cluster managers. */
  private static final Pattern EXECUTOR_WITHOUT_MEMORY =
      Pattern.compile("(?i)\\b(code|status):? 52\\b|OutOfMemoryError|JVM OOM");

  /** Java's message about a function whose class the executor could not load. */
  private static final String UNLOADED_FUNCTION =
      "cannot assign instance of java.lang.invoke.SerializedLambda to field";

  private static final String LOADABLE_FUNCTION =
      ": the executor could not load the class of a function: pass its jar in --jars, or raise the executor's limit of open files (ulimit -n) if all are in use";

  private static final String MORE_MEMORY =
      "raise spark.executor.memory, or run fewer tasks per executor (spark.executor.cores)";

  public static RetryPolicy of(Settings settings) {
    return new RetryPolicy(settings.retriesTaskExceptions());
  }

  /** Returns the policy of the jobs that the calling thread submits; see {@link #apply}. */
  static RetryPolicy of(SparkContext context) {
    return new RetryPolicy(
        Boolean.parseBoolean(context.getLocalProperty(Setting.RETRY_TASK_EXCEPTIONS.key())));
  }

  /** Applies the policy to jobs of {@link TaskResults} that the calling thread submits. */
  public void apply(SparkContext context) {
    context.setLocalProperty(
        Setting.RETRY_TASK_EXCEPTIONS.key(), Boolean.toString(retriesTaskExceptions));
  }

  /** Ends the effect of {@link #apply}. */
  public static void clear(SparkContext context) {
    context.setLocalProperty(Setting.RETRY_TASK_EXCEPTIONS.key(), null);
  }

  /** Returns whether a failure, or one of its causes, would end the next attempt as well. */
  public boolean isPermanent(Throwable failure) {
    return isOfInput(failure)
        || (!retriesTaskExceptions && (isOutOfMemory(failure) || userFrame(failure).isPresent()));
  }

  /** Returns the same as {@link #isPermanent(Throwable)} for a failure that Spark reports. */
  public boolean isPermanent(ExceptionFailure failure) {
    if (failure.exception().isDefined()) {
      return isPermanent(failure.exception().get());
    }
    return !retriesTaskExceptions && (isOutOfMemory(failure) || userFrame(failure).isPresent());
  }

  /** Returns whether a task had no memory, so that its executor ends. */
  public static boolean isOutOfMemory(ExceptionFailure failure) {
    return failure.exception().isDefined()
        ? isOutOfMemory(failure.exception().get())
        : failure.className().equals(NO_MEMORY)
            || String.valueOf(failure.fullStackTrace()).contains(CAUSED_BY + NO_MEMORY);
  }

  /** Returns whether an executor ended by an OutOfMemoryError, from Spark's description. */
  public static boolean isOutOfMemory(String lostExecutor) {
    return EXECUTOR_WITHOUT_MEMORY.matcher(lostExecutor).find();
  }

  private static boolean isOutOfMemory(Throwable failure) {
    return chain(failure).stream()
        .anyMatch(each -> each instanceof OutOfMemoryError && !(each instanceof SparkThrowable));
  }

  /**
   * Returns the frame of the user's code if it raised the failure and nothing outside of it did.
   */
  private static Optional<StackTraceElement> userFrame(Throwable failure) {
    List<Throwable> chain = chain(failure);
    if (chain.stream().anyMatch(RetryPolicy::isFromOutside)
        || chain.stream().noneMatch(e -> e instanceof RuntimeException || e instanceof Error)) {
      return Optional.empty();
    }
    Throwable root = chain.get(chain.size() - 1);
    return UserFrame.of(root.getClass(), root.getStackTrace());
  }

  /** Returns the same for an exception that the driver has not received, without the causes. */
  private static Optional<StackTraceElement> userFrame(ExceptionFailure failure) {
    if (failure.stackTrace() == null
        || String.valueOf(failure.fullStackTrace()).contains(CAUSED_BY)) {
      return Optional.empty();
    }
    try {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      Class<?> thrown = Class.forName(failure.className(), false, loader);
      return RuntimeException.class.isAssignableFrom(thrown) || Error.class.isAssignableFrom(thrown)
          ? UserFrame.of(thrown, failure.stackTrace())
          : Optional.empty();
    } catch (ClassNotFoundException | LinkageError e) {
      return Optional.empty();
    }
  }

  private static boolean isFromOutside(Throwable failure) {
    if (failure.getClass() == DDStoreException.class
        || failure.getClass() == StoreJobException.class) {
      return false; // says which call failed by its cause
    }
    if (failure instanceof SparkThrowable spark && USER_FUNCTION.equals(spark.getSqlState())) {
      return false;
    }
    return failure instanceof DDStoreException
        || failure.getClass().getName().startsWith("org.apache.spark.")
        || OUTSIDE.stream().anyMatch(type -> type.isInstance(failure));
  }

  /** Returns whether a failure is one of data, queries or file systems. */
  private static boolean isOfInput(Throwable failure) {
    List<Throwable> chain = chain(failure);
    boolean inFile = false;
    for (Throwable each : chain) {
      if (each instanceof PermanentFailure || isUnusable(each) || isRefusedBySpark(each)) {
        return true;
      }
      inFile |= isFailedRead(each);
    }
    return inFile && isFormatError(chain.get(chain.size() - 1));
  }

  /** Returns class and message of a failure, its root cause, the user's line and the remedy. */
  public static String describe(Throwable failure) {
    return describe(
        failure.getClass().getName() + ": " + firstLine(failure.getMessage()),
        rootCause(failure),
        userFrame(failure),
        isOutOfMemory(failure));
  }

  /** Returns the same as {@link #describe(Throwable)} for a failure that Spark reports. */
  public static String describe(ExceptionFailure failure) {
    Throwable cause = failure.exception().isDefined() ? failure.exception().get() : null;
    return describe(
        failure.className() + ": " + firstLine(failure.description()),
        cause == null ? rootCause(failure.fullStackTrace()) : rootCause(cause),
        cause == null ? userFrame(failure) : userFrame(cause),
        isOutOfMemory(failure));
  }

  /** Returns Spark's description of a lost executor, with the remedy if it had no memory. */
  public static String describe(String lostExecutor) {
    return isOutOfMemory(lostExecutor)
        ? "%s: the executor ended by OutOfMemoryError: %s".formatted(lostExecutor, MORE_MEMORY)
        : lostExecutor;
  }

  private static String describe(
      String text, String rootCause, Optional<StackTraceElement> place, boolean isOutOfMemory) {
    return withCause(text, rootCause)
        + place.map(frame -> " (at %s)".formatted(line(frame))).orElse("")
        + (text.contains(UNLOADED_FUNCTION) || rootCause.contains(UNLOADED_FUNCTION)
            ? LOADABLE_FUNCTION
            : "")
        + (isOutOfMemory ? ": " + MORE_MEMORY : "");
  }

  private static String line(StackTraceElement frame) {
    return frame.getFileName() == null
        ? frame.getClassName() + "." + frame.getMethodName()
        : frame.getFileName() + ":" + frame.getLineNumber();
  }

  /** Returns the root cause, from the trace if the exception could not be sent to the driver. */
  private static String rootCause(String trace) {
    return String.valueOf(trace)
        .lines()
        .filter(line -> line.startsWith(CAUSED_BY))
        .reduce((earlier, later) -> later)
        .map(line -> line.substring(CAUSED_BY.length()))
        .orElse("");
  }

  /**
   * Returns the root cause of a failure, for a message.
   *
   * @param failure failure, or null
   * @return class and message of the root cause, of a long message its first line; empty if there
   *     is no cause
   */
  public static String rootCause(Throwable failure) {
    List<Throwable> chain = chain(failure);
    return chain.size() < 2 ? "" : oneLine(chain.get(chain.size() - 1).toString());
  }

  /** Returns the text, followed by the root cause unless the text contains it. */
  public static String withCause(String text, String rootCause) {
    int message = rootCause.indexOf(": ");
    boolean isContained =
        rootCause.isEmpty() || text.contains(rootCause.substring(message + 1).strip());
    return isContained ? text : "%s (root cause: %s)".formatted(text, rootCause);
  }

  /** Returns a short text as one line; the first line of a long text, which may contain a plan. */
  private static String oneLine(String text) {
    return text.length() > MAX_CAUSE_CHARS
        ? firstLine(text)
        : text.lines().map(String::strip).collect(Collectors.joining(" ")).strip();
  }

  public static String firstLine(String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }

  private static boolean isUnusable(Throwable failure) {
    return failure instanceof AccessDeniedException
        || failure instanceof NotDirectoryException
        || failure instanceof FileAlreadyExistsException
        || (failure instanceof IOException
            && UNUSABLE_FILE_SYSTEM.matcher(String.valueOf(failure.getMessage())).find());
  }

  private static boolean isRefusedBySpark(Throwable failure) {
    String state = failure instanceof SparkThrowable spark ? spark.getSqlState() : null;
    return state != null
        && state.length() >= 2
        && PERMANENT_SQL_STATES.contains(state.substring(0, 2));
  }

  private static boolean isFailedRead(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof SparkThrowable
        && (message.contains(FAILED_READ) || message.contains(FAILED_READ_MESSAGE));
  }

  /** Returns whether a root cause is an error of the file's format, not of network or disk. */
  private static boolean isFormatError(Throwable root) {
    if (String.valueOf(root.getMessage()).contains("Too many open files")) {
      return false;
    }
    return root.getClass() == RuntimeException.class // "is not a Parquet file"
        || FORMAT_ERRORS.stream().anyMatch(type -> type.isInstance(root))
        || FORMATS.stream().anyMatch(root.getClass().getName()::startsWith);
  }

  private static List<Throwable> chain(Throwable failure) {
    List<Throwable> chain = new ArrayList<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
      chain.add(each);
    }
    return chain;
  }
}

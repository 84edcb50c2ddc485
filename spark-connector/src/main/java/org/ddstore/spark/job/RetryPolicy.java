// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.DataFormatException;
import java.util.zip.ZipException;
import org.apache.spark.SparkThrowable;
import org.ddstore.types.PermanentFailure;

/**
 * The distinction between transient and permanent failures. An unknown failure counts as transient:
 * a needless attempt costs time, a missing attempt costs the job.
 */
public final class RetryPolicy {
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

  private RetryPolicy() {}

  /** Returns whether a failure, or one of its causes, would end the next attempt as well. */
  public static boolean isPermanent(Throwable failure) {
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

  /**
   * Returns the root cause of a failure, for a message.
   *
   * @param failure failure, or null
   * @return class and first line of the message of the root cause; empty if there is no cause
   */
  public static String rootCause(Throwable failure) {
    List<Throwable> chain = chain(failure);
    return chain.size() < 2 ? "" : firstLine(chain.get(chain.size() - 1).toString());
  }

  /** Returns the text, followed by the root cause unless the text contains it. */
  public static String withCause(String text, String rootCause) {
    int message = rootCause.indexOf(": ");
    boolean told = rootCause.isEmpty() || text.contains(rootCause.substring(message + 1).strip());
    return told ? text : "%s (root cause: %s)".formatted(text, rootCause);
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

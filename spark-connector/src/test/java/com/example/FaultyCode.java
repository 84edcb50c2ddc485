// SPDX-License-Identifier: Apache-2.0
package com.example;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.apache.spark.sql.api.java.UDF1;
import org.assertj.core.util.Preconditions;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.RankTask;

/** Code of a user, in a package that is not ours, that fails in many ways. */
@SuppressWarnings({"InfiniteRecursion", "DoNotCallSuggester"}) // faults are its purpose
public final class FaultyCode {
  private FaultyCode() {}

  /** An exception of the user's own. */
  private static final class BadSampleException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadSampleException(String message) {
      super(message);
    }
  }

  /** Returns what the code throws. */
  public static Throwable thrownBy(Callable<?> code) {
    try {
      return new AssertionError("no exception, but " + code.call());
    } catch (Throwable e) {
      return e;
    }
  }

  /** Returns an exception of this code with a cause. */
  public static Throwable raising(Throwable cause) {
    return new IllegalStateException("no gradient", cause);
  }

  /** Divides by zero. */
  public static int divide() {
    return 1 / Integer.parseInt("0");
  }

  /** Overflows the stack. */
  public static int overflow() {
    return overflow() + 1;
  }

  /** Fails in the platform. */
  public static int parse() {
    return List.of("a").stream().mapToInt(Integer::parseInt).sum();
  }

  /** Fails in a cast. */
  public static Integer useWrongType() {
    Object text = "a";
    return (Integer) text;
  }

  /** Throws an exception of the user's. */
  public static int throwOwn() {
    throw new BadSampleException("label 11 of 10");
  }

  /** Fails in a thread of a pool. */
  public static int failInPool() throws Exception {
    return CompletableFuture.supplyAsync(FaultyCode::divide, ForkJoinPool.commonPool()).get();
  }

  /** Passes a wrong argument to a library. */
  public static int misuseLibrary() {
    Preconditions.checkArgument(false, "a wrong argument");
    return 0;
  }

  /** Throws a checked exception, which is no bug of this code. */
  public static int throwChecked() throws Exception {
    throw new Exception("no licence");
  }

  /** Fails in a library for a reason of the library. */
  public static int missDevice() {
    assumeTrue(false, "a device");
    return 0;
  }

  /** Is cancelled. */
  public static int cancel() {
    throw new CancellationException("cancelled");
  }

  /** Reads a float column as another one that does not exist, on one rank. */
  public static RankTask<Integer> readingUnknownField() {
    return rank -> {
      if (rank.rank() != 1) {
        rank.communicator().barrier();
        return 0;
      }
      try (Reader reader = rank.rows().reader();
          Batch batch = reader.getBatch(0)) {
        return batch.field("unknown").getLong(0) > 0 ? 1 : 0;
      }
    };
  }

  /** A function that fails for one value. */
  public static UDF1<Long, Long> dividing() {
    return id -> 1 / (id - 60);
  }
}

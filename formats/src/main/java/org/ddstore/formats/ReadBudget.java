// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.util.Optional;
import org.ddstore.spark.config.TaskSlots;
import org.ddstore.types.Internal;

/**
 * The memory that one reader of a file may allocate at once, so that a damaged or hostile file does
 * not end its executor. A size that only the file declares is checked with {@link #requireClaim}
 * before anything is allocated. A size that bytes of the file back is checked with {@link
 * #requireHeld}.
 */
@Internal
public final class ReadBudget {
  /** Largest allocation for a declared size that no bytes back yet: 256 MiB. */
  private static final long MAX_CLAIM_BYTES = 256L << 20;

  /** Largest array of every JVM, in elements. */
  public static final int MAX_ARRAY_LENGTH = Integer.MAX_VALUE - 8;

  /** Maximum number of chunks of one read; more would take minutes even if none was written. */
  public static final int MAX_CHUNKS = 1 << 18;

  /** Memory of a text besides its characters: reference, headers and padding, in bytes. */
  public static final long TEXT_BYTES = 64;

  /** Maximum ratio of decompressed to compressed bytes of deflate (zlib, gzip, zip, PNG). */
  public static final int DEFLATE_RATIO = 1032;

  /** Maximum ratio of decompressed to compressed bytes of LZ4 blocks. */
  public static final int LZ4_RATIO = 255;

  private static final String REMEDY =
      "raise spark.executor.memory (spark.driver.memory on the driver), or lower the number of tasks per executor (spark.executor.cores)";

  private ReadBudget() {}

  /**
   * {@return the number of bytes that a reader may allocate for a size that a file declares and no
   * bytes back: the smaller of 256 MiB and a quarter of the heap divided by the number of
   * concurrent tasks}
   */
  public static long claimBytes() {
    return Math.min(MAX_CLAIM_BYTES, heapShare() / 4);
  }

  /**
   * {@return the number of bytes that a reader may hold for one row, chunk or picture whose bytes
   * are in the file: half of the heap divided by the number of concurrent tasks}
   */
  public static long heldBytes() {
    return heapShare() / 2;
  }

  private static long heapShare() {
    return Runtime.getRuntime().maxMemory() / TaskSlots.ofProcess();
  }

  /**
   * Checks a declared size before memory is allocated for it.
   *
   * @param file path of the file
   * @param object what has the size, such as an array, a chunk or a picture in the file
   * @param bytes declared size in bytes; a negative value counts as more than 2^63
   * @throws FormatException if it is more than {@link #claimBytes}
   */
  public static void requireClaim(String file, String object, long bytes) {
    require(file, object, bytes, claimBytes());
  }

  /**
   * Checks the size of something that the file contains before it is read into memory.
   *
   * @param file path of the file
   * @param object what has the size, such as an array, a chunk or a picture in the file
   * @param bytes size in bytes; a negative value counts as more than 2^63
   * @throws FormatException if it is more than {@link #heldBytes}
   */
  public static void requireHeld(String file, String object, long bytes) {
    require(file, object, bytes, heldBytes());
  }

  /**
   * {@return the message about a size that is more than {@link #heldBytes}; empty for others}
   *
   * @param bytes size in bytes; a negative value counts as more than 2^63
   */
  public static Optional<String> heldProblem(long bytes) {
    return problem(bytes, heldBytes());
  }

  private static void require(String file, String object, long bytes, long limit) {
    problem(bytes, limit)
        .ifPresent(
            problem -> {
              throw FormatException.of(file, object, problem);
            });
  }

  private static Optional<String> problem(long bytes, long limit) {
    return bytes >= 0 && bytes <= limit
        ? Optional.empty()
        : Optional.of(
            "needs %s bytes at once, a task may use %,d: %s"
                .formatted(bytes < 0 ? "more than 2^63" : "%,d".formatted(bytes), limit, REMEDY));
  }
}

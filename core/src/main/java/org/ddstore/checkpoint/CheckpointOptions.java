// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/** The options of checkpoints. Immutable; the methods return changed copies. */
public final class CheckpointOptions implements Cloneable {
  private static final int LEAST_CHUNK = 4096;
  static final int MOST_CHUNK = 1 << 30;
  private static final int MOST_WRITERS = 64;
  private static final Duration MAX_TIMEOUT = Duration.ofDays(365);

  private int keep = 3;
  private int chunkSize = 4 << 20;
  private long memoryLimit = 64L << 20;
  private int writers = 4;
  private Saving saving = Saving.BACKGROUND;
  private SaveFailure onFailure = SaveFailure.THROW;
  private Duration saveTimeout = Duration.ofMinutes(10);

  private CheckpointOptions() {}

  /**
   * {@return the defaults: the last 3 checkpoints are kept, each rank writes chunks of 4 MiB by 4
   * threads from at most 64 MiB of heap, in the background, and throws after a failure; a save ends
   * within 10 minutes}
   */
  public static CheckpointOptions defaults() {
    return new CheckpointOptions();
  }

  private CheckpointOptions with(Consumer<CheckpointOptions> change) {
    try {
      CheckpointOptions copy = (CheckpointOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s %,d outside [%,d, %,d]".formatted(name, value, least, most));
    }
  }

  /**
   * Sets how many checkpoints are kept. Older ones are deleted after another is published.
   *
   * @param checkpoints number of checkpoints, at least 1
   * @return a copy with this option
   */
  public CheckpointOptions keep(int checkpoints) {
    check("keep", checkpoints, 1, Integer.MAX_VALUE);
    return with(copy -> copy.keep = checkpoints);
  }

  /**
   * Sets the size of the files that a stream is cut into. Each is written by one thread.
   *
   * @param bytes number of bytes, in [4096, 1 GiB]
   * @return a copy with this option
   */
  public CheckpointOptions chunkSize(int bytes) {
    check("chunkSize", bytes, LEAST_CHUNK, MOST_CHUNK);
    return with(copy -> copy.chunkSize = bytes);
  }

  /**
   * Sets the heap of this rank for bytes that are not yet written. A body waits while it is used
   * up. At least two chunks are used.
   *
   * @param bytes number of bytes, at least 1
   * @return a copy with this option
   */
  public CheckpointOptions memoryLimit(long bytes) {
    check("memoryLimit", bytes, 1, Long.MAX_VALUE);
    return with(copy -> copy.memoryLimit = bytes);
  }

  /**
   * Sets the number of threads of this rank that write chunks.
   *
   * @param threads number of threads, in [1, 64]
   * @return a copy with this option
   */
  public CheckpointOptions writers(int threads) {
    check("writers", threads, 1, MOST_WRITERS);
    return with(copy -> copy.writers = threads);
  }

  /**
   * Sets whether the training waits until a checkpoint is published; the same on all ranks.
   *
   * @param part part of a save that the training waits for
   * @return a copy with this option
   */
  public CheckpointOptions saving(Saving part) {
    Objects.requireNonNull(part, "part is null");
    return with(copy -> copy.saving = part);
  }

  /**
   * Sets the effect of a failure of the storage, such as a full disk; the same on all ranks.
   *
   * @param effect effect on the training
   * @return a copy with this option
   */
  public CheckpointOptions onFailure(SaveFailure effect) {
    Objects.requireNonNull(effect, "effect is null");
    return with(copy -> copy.onFailure = effect);
  }

  /**
   * Sets how long a save waits for the storage and for other ranks to finish their writes.
   *
   * @param timeout longest wait, in (0, 365 days]
   * @return a copy with this option
   */
  public CheckpointOptions saveTimeout(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout is null");
    if (timeout.isZero() || timeout.isNegative() || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "saveTimeout %s outside (0, %s]".formatted(timeout, MAX_TIMEOUT));
    }
    return with(copy -> copy.saveTimeout = timeout);
  }

  int keep() {
    return keep;
  }

  int chunkSize() {
    return chunkSize;
  }

  /** Returns the number of chunks that may be in memory, at least 2. */
  int chunksInMemory() {
    return (int) Math.max(2, Math.min(Integer.MAX_VALUE, memoryLimit / chunkSize));
  }

  int writers() {
    return writers;
  }

  Saving saving() {
    return saving;
  }

  SaveFailure onFailure() {
    return onFailure;
  }

  Duration saveTimeout() {
    return saveTimeout;
  }

  /** Returns how long a rank that has finished its writes waits for those of others. */
  Duration arrivalTimeout() {
    Duration twice = saveTimeout.multipliedBy(2);
    return twice.compareTo(MAX_TIMEOUT) > 0 ? MAX_TIMEOUT : twice;
  }

  @Override
  public String toString() {
    return "CheckpointOptions[keep %d, chunkSize %,d bytes, memoryLimit %,d bytes, writers %d, saving %s, onFailure %s, saveTimeout %s]"
        .formatted(keep, chunkSize, memoryLimit, writers, saving, onFailure, saveTimeout);
  }
}

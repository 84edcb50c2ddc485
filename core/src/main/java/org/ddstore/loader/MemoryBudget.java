// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.types.Plural;

/**
 * A budget that keeps the memory of all slots within a limit. The size of a batch with ragged
 * fields, or of one for which a transform allocates, is not known in advance. The first such batch
 * gets all memory, later ones are assumed to be as large as the largest so far, and idle slots are
 * freed when that was not enough. Guarded by the pipeline.
 */
final class MemoryBudget {
  private final long maxBytes;
  private final Recipe recipe;
  private final Map<Slot, Long> reserved = new HashMap<>();
  private long reservedBytes;
  private long largestBytes;
  private int largestSamples;
  private int lastSamples;
  private long lastCapacityBytes;

  MemoryBudget(long maxBytes, Recipe recipe) {
    this.maxBytes = maxBytes;
    this.recipe = recipe;
  }

  /**
   * Rejects a batch size of which not even one batch fits.
   *
   * @param samples samples per batch
   */
  void check(int samples) {
    lastSamples = 0; // rows may have been appended since
    long bytes = capacityBytes(samples);
    if (bytes > maxBytes) {
      throw new IllegalArgumentException(
          "a batch of %s takes %,d bytes%s, and maxBytes is %,d: raise it by maxBytes(..), or use about %s per batch"
              .formatted(
                  Plural.of(samples, "sample"),
                  bytes,
                  remoteRowsText(samples),
                  maxBytes,
                  Plural.of(Math.max(1, (long) ((double) samples * maxBytes / bytes)), "sample")));
    }
  }

  private String remoteRowsText(int samples) {
    long bytes = recipe.stagingBytes(samples);
    return bytes == 0 ? "" : ", %,d of them for remote rows in transit".formatted(bytes);
  }

  /** Reserves a batch's room, freeing other idle slots; false if other slots leave no room. */
  boolean tryReserve(Slot slot, int samples, Collection<Slot> idle) {
    long need =
        Math.max(Math.max(slot.takenBytes(), capacityBytes(samples)), expectedBytes(samples));
    if (largestBytes == 0 && recipe.isOfUnknownSize()) {
      need = Math.max(need, maxBytes); // size unknown: the batch is made alone
    }
    for (Slot candidate : idle) {
      if (othersThan(slot) + need <= maxBytes) {
        break;
      }
      if (candidate != slot && reserved.containsKey(candidate)) {
        freed(candidate);
        candidate.free();
      }
    }
    long others = othersThan(slot);
    if (others + need > maxBytes && others > 0) {
      return false;
    }
    reserve(slot, need);
    return true;
  }

  /** Reserves like {@link #tryReserve} for a batch with a reservation, which it enlarges. */
  boolean tryKeep(Slot slot, int samples, Collection<Slot> idle) {
    long need = Math.max(capacityBytes(samples), expectedBytes(samples));
    return reserved.getOrDefault(slot, 0L) >= need || tryReserve(slot, samples, idle);
  }

  /** Returns whether each of some slots has room for a batch, and for a combined read. */
  boolean fitsInAll(int slots, int samples, int together, long remoteBytes) {
    long batch = Math.max(capacityBytes(samples), expectedBytes(samples));
    long staging = recipe.stagingBytes((long) together * samples);
    long known = 2 * GrowingBuffer.capacityFor(together * remoteBytes); // ragged rows take more
    return batch + Math.max(staging, known) <= maxBytes / slots;
  }

  /** Releases the reservation of an unread batch, except for memory already allocated. */
  void giveUp(Slot slot) {
    reserve(slot, slot.takenBytes());
  }

  /** Reserves as {@link #tryKeep}, beyond the limit if needed. */
  void keep(Slot slot, int samples) {
    reserve(slot, Math.max(reserved.getOrDefault(slot, 0L), expectedBytes(samples)));
  }

  /** Returns the capacity by the recipe; cached, because it inspects each field. */
  private long capacityBytes(int samples) {
    if (samples != lastSamples) {
      lastCapacityBytes = recipe.capacityBytes(samples);
      lastSamples = samples;
    }
    return lastCapacityBytes;
  }

  private long othersThan(Slot slot) {
    return reservedBytes - reserved.getOrDefault(slot, 0L);
  }

  private void reserve(Slot slot, long bytes) {
    Long before = reserved.put(slot, bytes);
    reservedBytes += bytes - (before == null ? 0 : before);
  }

  /**
   * Records the memory that the batch in a slot has taken.
   *
   * @param samples full batch size; a last batch has fewer samples and may hold one long row
   */
  void recordSize(Slot slot, int samples) {
    reserve(slot, slot.takenBytes());
    long bytes = slot.presentBytes();
    if (bytes > largestBytes) {
      largestBytes = bytes;
      largestSamples = samples;
    }
  }

  /** Returns the expected size of a batch, from the largest so far; 0 before the first. */
  long expectedBytes(int samples) {
    return samples <= largestSamples
        ? largestBytes
        : (long) ((double) largestBytes / Math.max(1, largestSamples) * samples);
  }

  /** Releases the reservation of a slot that has been freed. */
  void freed(Slot slot) {
    Long bytes = reserved.remove(slot);
    reservedBytes -= bytes == null ? 0 : bytes;
  }

  @Override
  public String toString() {
    return "%,d of %,d bytes".formatted(reservedBytes, maxBytes);
  }
}

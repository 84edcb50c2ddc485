package org.ddstore.loader;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.ddstore.memory.GrowingBuffer;

/**
 * Keeps the memory of all slots within a bound. What a batch with ragged fields will take, or one
 * for which a transform allocates, is not known before: the first has all memory for itself, others
 * are taken to be like the largest so far, and idle slots are freed when that was not enough.
 * Guarded by the pipeline.
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
   * Refuses batches of which not even one fits.
   *
   * @param samples of a batch
   */
  void check(int samples) {
    lastSamples = 0; // rows may have been appended since
    long bytes = capacityBytes(samples);
    if (bytes > maxBytes) {
      throw new IllegalArgumentException(
          "a batch of %,d samples takes %,d bytes%s, and maxBytes is %,d: raise it by withMaxBytes(..), or take about %,d samples a batch"
              .formatted(
                  samples,
                  bytes,
                  ofRemoteRows(samples),
                  maxBytes,
                  Math.max(1, (long) ((double) samples * maxBytes / bytes))));
    }
  }

  private String ofRemoteRows(int samples) {
    long bytes = recipe.stagingBytes(samples);
    return bytes == 0 ? "" : ", %,d of them for remote rows on their way".formatted(bytes);
  }

  /**
   * Makes room for a batch.
   *
   * @param slot that will hold it
   * @param idle the other slots that nobody uses, and that are freed if need be
   * @return false if there is none; always true if no other slot is in use
   */
  boolean tryReserve(Slot slot, int samples, Collection<Slot> idle) {
    long need =
        Math.max(Math.max(slot.takenBytes(), capacityBytes(samples)), expectedBytes(samples));
    if (largestBytes == 0 && recipe.isOfUnknownSize()) {
      need = Math.max(need, maxBytes); // nobody knows: alone
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

  /**
   * As {@link #tryReserve}, for a batch that has a place and that may be thought larger by now: its
   * place is made larger.
   */
  boolean tryKeep(Slot slot, int samples, Collection<Slot> idle) {
    long need = Math.max(capacityBytes(samples), expectedBytes(samples));
    return reserved.getOrDefault(slot, 0L) >= need || tryReserve(slot, samples, idle);
  }

  /**
   * Whether there is room for a batch in each of some slots, and for what each of their readers
   * needs to read several together.
   *
   * @param together how many
   * @param remoteBytes of the rows of one, as they come over a network
   */
  boolean fitsInAll(int slots, int samples, int together, long remoteBytes) {
    long batch = Math.max(capacityBytes(samples), expectedBytes(samples));
    long staging = recipe.stagingBytes((long) together * samples);
    long known = 2 * GrowingBuffer.capacityFor(together * remoteBytes); // of ragged rows more
    return batch + Math.max(staging, known) <= maxBytes / slots;
  }

  /** A batch that is not read yet leaves its place to others, but for the memory that it has. */
  void giveUp(Slot slot) {
    reserve(slot, slot.takenBytes());
  }

  /** As {@link #tryKeep}, beyond the bound if need be. */
  void keep(Slot slot, int samples) {
    reserve(slot, Math.max(reserved.getOrDefault(slot, 0L), expectedBytes(samples)));
  }

  /** As of the recipe, which has to look at each field: batches are of one size for long. */
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
   * Learns what the batch in a slot has taken.
   *
   * @param samples that the batch could have had; a last one has fewer, and may have one long row
   */
  void took(Slot slot, int samples) {
    reserve(slot, slot.takenBytes());
    long bytes = slot.presentBytes();
    if (bytes > largestBytes) {
      largestBytes = bytes;
      largestSamples = samples;
    }
  }

  /** What a batch of so many samples takes at most, by the largest so far; 0 before the first. */
  long expectedBytes(int samples) {
    return samples <= largestSamples
        ? largestBytes
        : (long) ((double) largestBytes / Math.max(1, largestSamples) * samples);
  }

  /** The slot has been freed. */
  void freed(Slot slot) {
    Long bytes = reserved.remove(slot);
    reservedBytes -= bytes == null ? 0 : bytes;
  }

  @Override
  public String toString() {
    return "%,d of %,d bytes".formatted(reservedBytes, maxBytes);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/** A queue of planned batches: decides which may be read now, and which together. */
final class ReadQueue {
  /**
   * Size below which batches share requests to remote processes. Measured 2026-11-27, two cores,
   * two ranks, tcp, rows of 256 bytes: without this, an epoch takes 2.4 times as long with 64 rows
   * a batch, 1.2 times with 256.
   */
  private static final long TOGETHER_BYTES = 512 << 10;

  private static final int UNKNOWN = -1;
  private static final int AHEAD = 2;
  private static final int QUICK_AHEAD = 8;

  private final Deque<Entry> planned = new ArrayDeque<>();
  private final MemoryBudget budget;
  private final Collection<Slot> idle;
  private final int depth;
  private long remoteRowBytes; // 0 until a row has come over a network
  private int windowRows = UNKNOWN;
  private int lastWindow;

  /**
   * @param idle live view of the idle slots
   * @param depth number of batches made ahead
   */
  ReadQueue(MemoryBudget budget, Collection<Slot> idle, int depth) {
    this.budget = budget;
    this.idle = idle;
    this.depth = depth;
  }

  void add(Entry entry) {
    planned.add(entry);
  }

  void putBack(Entry entry) {
    planned.addFirst(entry);
  }

  int size() {
    return planned.size();
  }

  /**
   * Returns the number of planned batches that keeps the workers busy. More would only evict
   * recently read memory from the caches, unless they are read together. Measured 2026-11-27, two
   * cores, 64 rows a batch: with all batches planned ahead, an epoch takes 1.16 times as long with
   * rows of 4 KiB, 0.99 times with 256 bytes.
   *
   * @param quick whether reading a batch takes no longer than waking a thread
   */
  int neededPlans(int workers, boolean quick) {
    return remoteRowBytes > 0 ? depth : Math.min(depth, (quick ? QUICK_AHEAD : AHEAD) * workers);
  }

  /** Removes a batch; returns false if its read has begun. */
  boolean remove(Entry entry) {
    return planned.remove(entry);
  }

  /** Records whether the rows of a batch came over a network, and their size. */
  void recordRead(Slot slot) {
    if (remoteRowBytes > 0 || slot.readsRemotely()) {
      long bytes = Math.max(1, slot.recordBytes());
      if (bytes > remoteRowBytes) {
        remoteRowBytes = bytes;
        windowRows = UNKNOWN;
      }
    }
  }

  /**
   * Returns the number of batches that are best read together: with rows over a network, half of
   * the batches made ahead, if they are small enough to share requests.
   */
  private int window() {
    if (remoteRowBytes == 0 || planned.isEmpty()) {
      return 1;
    }
    Entry first = planned.peek();
    if (first.slot().rows() != windowRows) {
      windowRows = first.slot().rows();
      lastWindow = largestWindow(first.source().maxSize(), windowRows * remoteRowBytes);
    }
    return lastWindow;
  }

  /** Returns whether {@link #take} may return several batches. */
  boolean readsTogether() {
    return window() > 1;
  }

  /**
   * Returns the largest number of batches of a combined read. A reader keeps the memory of its
   * largest combined read, so there must be room for that in all slots.
   */
  private int largestWindow(int samples, long remoteBytes) {
    long shared = TOGETHER_BYTES / Math.max(1, remoteBytes);
    int batches = (int) Math.max(1, Math.min(depth / 2, shared));
    while (batches > 1 && !budget.fitsInAll(depth + 1, samples, batches, remoteBytes)) {
      batches--;
    }
    return batches;
  }

  /** Returns whether to read now: the window is full or final, or the consumer needs a batch. */
  boolean mayRead(Entry next, boolean cannotGrow) {
    return !planned.isEmpty()
        && (planned.size() >= window() || !next.isReady() || cannotGrow)
        && hasRoom(planned.peek(), next);
  }

  /** Takes the batches of one combined read, directly after {@link #mayRead} returned true. */
  List<Entry> take(Entry next) {
    Deque<Entry> together = new ArrayDeque<>();
    int limit = window();
    try {
      do {
        together.add(planned.remove());
      } while (together.size() < limit && !planned.isEmpty() && hasRoom(planned.peek(), next));
    } catch (RuntimeException | Error e) { // memory could not be freed to make room
      together.descendingIterator().forEachRemaining(planned::addFirst);
      throw e;
    }
    return List.copyOf(together);
  }

  /**
   * Returns whether the next planned batch may be read: batches read since it was planned may have
   * shown that it needs more memory. The batch that the consumer waits for may always be read.
   */
  private boolean hasRoom(Entry entry, Entry next) {
    int samples = entry.source().maxSize();
    if (budget.tryKeep(entry.slot(), samples, idle)) {
      return true;
    }
    planned.stream().skip(1).map(Entry::slot).forEach(budget::giveUp); // delivered after it
    if (budget.tryKeep(entry.slot(), samples, idle)) {
      return true;
    }
    if (entry != next) {
      return false;
    }
    budget.keep(entry.slot(), samples);
    return true;
  }
}

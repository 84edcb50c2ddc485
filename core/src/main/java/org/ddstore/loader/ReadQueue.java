package org.ddstore.loader;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/**
 * The batches that are planned and not read: which may be read now, and which together. Guarded by
 * the pipeline.
 */
final class ReadQueue {
  /** Batches of less share requests to remote processes, which have pieces of 256 KiB. */
  private static final long TOGETHER_BYTES = 512 << 10;

  private static final int UNKNOWN = -1;
  private static final int AHEAD = 2;
  private static final int QUICK_AHEAD = 8;

  private final Deque<Entry> planned = new ArrayDeque<>();
  private final MemoryBudget budget;
  private final Collection<Slot> idle;
  private final int depth;
  private long remoteRowBytes; // 0 as long as no row came over a network
  private int windowRows = UNKNOWN;
  private int lastWindow;

  /**
   * @param idle the slots that nobody uses, as they are at any time
   * @param depth how many batches are made ahead
   */
  ReadQueue(MemoryBudget budget, Collection<Slot> idle, int depth) {
    this.budget = budget;
    this.idle = idle;
    this.depth = depth;
  }

  void add(Entry entry) {
    planned.add(entry);
  }

  /** What was taken and is not read comes before all others again. */
  void putBack(Entry entry) {
    planned.addFirst(entry);
  }

  int size() {
    return planned.size();
  }

  /**
   * How many planned batches keep the workers busy: more would only take memory out of the caches
   * that was read into just before, unless they are to be read together.
   *
   * @param quick whether reading one takes no longer than waking a thread
   */
  int enough(int workers, boolean quick) {
    return remoteRowBytes > 0 ? depth : Math.min(depth, (quick ? QUICK_AHEAD : AHEAD) * workers);
  }

  /** True if nobody had begun to read it. */
  boolean remove(Entry entry) {
    return planned.remove(entry);
  }

  /** Learns whether the rows of a batch came over a network, and how large they are. */
  void wasRead(Slot slot) {
    if (remoteRowBytes > 0 || slot.readsRemotely()) {
      long bytes = Math.max(1, slot.recordBytes());
      if (bytes > remoteRowBytes) {
        remoteRowBytes = bytes;
        windowRows = UNKNOWN;
      }
    }
  }

  /**
   * How many batches are best read together: where rows come over a network, half of those that are
   * made ahead, if they are small enough to share requests.
   */
  private int window() {
    if (remoteRowBytes == 0 || planned.isEmpty()) {
      return 1;
    }
    Entry first = planned.peek();
    if (first.slot().rows() != windowRows) {
      windowRows = first.slot().rows();
      lastWindow = mostTogether(first.source().maxSize(), windowRows * remoteRowBytes);
    }
    return lastWindow;
  }

  /** Whether {@link #take} gives several. */
  boolean readsTogether() {
    return window() > 1;
  }

  /** A reader keeps what it needed to read some together, so there must be room for that in all. */
  private int mostTogether(int samples, long remoteBytes) {
    long some = TOGETHER_BYTES / Math.max(1, remoteBytes);
    int most = (int) Math.max(1, Math.min(depth / 2, some));
    while (most > 1 && !budget.fitsInAll(depth + 1, samples, most, remoteBytes)) {
      most--;
    }
    return most;
  }

  /**
   * Whether to read now: there is a window, or it cannot grow, or the consumer needs a batch.
   *
   * @param next the batch that the consumer gets next
   * @param cannotGrow whether no more is planned for now
   */
  boolean mayRead(Entry next, boolean cannotGrow) {
    return !planned.isEmpty()
        && (planned.size() >= window() || !next.isReady() || cannotGrow)
        && hasRoom(planned.peek(), next);
  }

  /** Takes what is read together, where {@link #mayRead} was just true. */
  List<Entry> take(Entry next) {
    Deque<Entry> together = new ArrayDeque<>();
    int most = window();
    try {
      do {
        together.add(planned.remove());
      } while (together.size() < most && !planned.isEmpty() && hasRoom(planned.peek(), next));
    } catch (RuntimeException | Error e) { // of memory that could not be freed to make room
      together.descendingIterator().forEachRemaining(planned::addFirst);
      throw e;
    }
    return List.copyOf(together);
  }

  /**
   * Whether the next planned batch may be read: those that were read since it was planned may have
   * shown that it takes more. The one that the consumer waits for may always.
   */
  private boolean hasRoom(Entry entry, Entry next) {
    int samples = entry.source().maxSize();
    if (budget.tryKeep(entry.slot(), samples, idle)) {
      return true;
    }
    planned.stream().skip(1).map(Entry::slot).forEach(budget::giveUp); // they come after it
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

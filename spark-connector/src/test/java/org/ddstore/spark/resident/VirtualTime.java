// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Events in virtual time, which one seed decides: what happens at the same time, in what order. A
 * node that is paused gets its events when it goes on; one that has ended gets none.
 */
final class VirtualTime {
  /** A process. */
  static class Node {
    private boolean isAlive = true;
    private long pausedUntilMs;

    boolean isAlive() {
      return isAlive;
    }

    void end() {
      isAlive = false;
    }

    void pauseUntil(long timeMs) {
      pausedUntilMs = Math.max(pausedUntilMs, timeMs);
    }

    long pausedUntilMs() {
      return pausedUntilMs;
    }
  }

  private record Event(long timeMs, long order, Node node, Runnable action) {}

  private static final Comparator<Event> ORDER =
      Comparator.comparingLong(Event::timeMs).thenComparingLong(Event::order);

  /** An invariant that does not hold. */
  static final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String text) {
      super(text);
    }
  }

  private static final long LATEST_MS = 24 * 60 * 60_000;

  private final PriorityQueue<Event> events = new PriorityQueue<>(ORDER);
  private final List<String> timeline = new ArrayList<>();
  private final boolean isTraced;
  private final Random random;
  private long nowMs;
  private long order;

  /**
   * @param isTraced whether the timeline is kept
   */
  VirtualTime(long seed, boolean isTraced) {
    this.random = new Random(seed);
    this.isTraced = isTraced;
  }

  long nowMs() {
    return nowMs;
  }

  /** Returns a random number in [from, to). */
  int between(int from, int to) {
    return from + random.nextInt(to - from);
  }

  boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  void shuffle(List<?> list) {
    Collections.shuffle(list, random);
  }

  long number() {
    return random.nextLong();
  }

  /** Runs an action of a node after a delay. */
  void after(long delayMs, Node node, Runnable action) {
    events.add(new Event(nowMs + delayMs, order++, node, action));
  }

  void note(Supplier<String> text) {
    if (isTraced) {
      timeline.add("%9.3f s  %s".formatted(nowMs / 1e3, text.get()));
    }
  }

  List<String> timeline() {
    return timeline;
  }

  /**
   * Runs events until none is left.
   *
   * @param afterEach check of the invariants
   */
  void run(Runnable afterEach) {
    for (Event event = events.poll(); event != null; event = events.poll()) {
      nowMs = event.timeMs();
      if (nowMs > LATEST_MS) {
        throw new Violation("events never end");
      }
      if (!event.node().isAlive()) {
        continue;
      }
      if (event.node().pausedUntilMs() > nowMs) {
        events.add(
            new Event(event.node().pausedUntilMs(), event.order(), event.node(), event.action()));
        continue;
      }
      event.action().run();
      afterEach.run();
    }
  }
}

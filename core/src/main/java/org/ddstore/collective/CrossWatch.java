// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * A watch of one wait for a {@link CrossWait}. A cross wait is confirmed when it has lasted for one
 * second and updates of the other rank have arrived meanwhile, which proves that no message that
 * would contradict it is lost or late.
 */
final class CrossWatch {
  private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(1);

  private final SplitGroups splitGroups;
  private final Rounds waiting;
  private CrossWait suspected;
  private long sinceNs;
  private long[] newsBefore;

  CrossWatch(SplitGroups splitGroups, Rounds waiting) {
    this.splitGroups = splitGroups;
    this.waiting = waiting;
  }

  /** Returns a confirmed cross wait; null if there is none yet. To be called about every 100 ms. */
  CrossWait poll() {
    CrossWait found = splitGroups.findCrossWait(waiting);
    long now = System.nanoTime();
    if (found == null || !found.equals(suspected)) {
      suspected = found;
      sinceNs = now;
      newsBefore = found == null ? null : found.news();
    }
    if (found == null) {
      return null;
    }
    found.ask();
    return now - sinceNs >= SETTLE_NS && hasNews(found) ? found : null;
  }

  private boolean hasNews(CrossWait found) {
    long[] news = found.news();
    return !Arrays.equals(news, newsBefore) && news[0] > newsBefore[0] && news[1] > newsBefore[1];
  }
}

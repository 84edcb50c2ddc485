// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.util.concurrent.TimeUnit;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** The process that owns a mirrored lane: sends requests to it, and tracks whether it lives. */
final class LaneOwner {
  private static final long MIN_ASK_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long CERTAIN_NS = TimeUnit.MILLISECONDS.toNanos(90);

  private final Nonce lane;
  private final ProcessAddress process;
  private final Messenger messenger;

  // Each rank that shares the mirror may write these fields; one write serves all ranks.
  private volatile boolean asked;
  private volatile long askedNs;
  private volatile boolean silent;
  private volatile long silentSinceNs;

  LaneOwner(Nonce lane, ProcessAddress process, Messenger messenger) {
    this.lane = lane;
    this.process = process;
    this.messenger = messenger;
  }

  Nonce lane() {
    return lane;
  }

  ProcessAddress process() {
    return process;
  }

  /** Requests the state, at most every 20 ms; {@code posted} rounds were received here. */
  void ask(long posted) {
    long nowNs = System.nanoTime();
    if (!asked || nowNs - askedNs >= MIN_ASK_NS) {
      askedNs = nowNs;
      send(posted, !asked);
      asked = true;
    }
  }

  /** Requests pieces that were lost. */
  void askAgain(long posted) {
    send(posted, true);
  }

  private void send(long posted, boolean missed) {
    messenger.send(process, new LaneRequest(lane, posted, missed, messenger.local()).toMessage());
  }

  /**
   * Returns whether the process may still send. Its last message can arrive after the news of its
   * end, so the messenger must report the end twice, {@code CERTAIN_NS} apart.
   */
  boolean lives() {
    if (messenger.isAlive(process)) {
      silent = false;
      return true;
    }
    if (!silent) {
      silentSinceNs = System.nanoTime();
      silent = true;
    }
    return System.nanoTime() - silentSinceNs < CERTAIN_NS;
  }
}

package org.ddstore.collective;

import java.util.concurrent.TimeUnit;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** The process of a lane that is mirrored here: asks it, and knows whether it lives. */
final class LaneOwner {
  private static final long MIN_ASK_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long CERTAIN_NS = TimeUnit.MILLISECONDS.toNanos(90);

  private final Nonce lane;
  private final ProcessAddress process;
  private final Messenger messenger;

  // Of the ranks that share the mirror each may write them, and what one writes serves all.
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

  /**
   * Asks how the lane stands. Called again and again, asks every 20 ms at most: the answer shows
   * whether a message was lost.
   *
   * @param posted rounds that are here
   */
  void ask(long posted) {
    long nowNs = System.nanoTime();
    if (!asked || nowNs - askedNs >= MIN_ASK_NS) {
      askedNs = nowNs;
      send(posted, !asked);
      asked = true;
    }
  }

  /** Asks for pieces that were lost. */
  void askAgain(long posted) {
    send(posted, true);
  }

  private void send(long posted, boolean missed) {
    messenger.send(process, new LaneAsk(lane, posted, missed, messenger.local()).toMessage());
  }

  /**
   * Whether the process may still speak. What it said last may arrive after the news of its end, so
   * the messenger has to say so twice.
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.ddstore.types.DDStoreException;

/**
 * The lockstep of a group as seen by one rank. A call consists of one or more rounds; in a round
 * each rank posts one piece and waits until all have. All waiting and all failure detection is
 * here.
 */
final class Rounds {
  private static final int ASKED_AT_ONCE = 8;

  private final GroupLanes group;
  private final int rank;
  private final Lane[] lanes;
  private final OwnLane own;
  private final SplitGroups splitGroups;
  private final int[] origins;

  private volatile Failure broken;
  private volatile boolean left; // written under this

  private long call;
  private long round;
  private String callText = "";
  private Duration timeout = Duration.ZERO;
  private long digest;
  private long deadlineNs;
  private boolean failedTogether;

  /**
   * @param splitGroups groups of the rank
   * @param origins for each rank, its number in the root group that all groups were split from
   */
  Rounds(GroupLanes group, SplitGroups splitGroups, int... origins) {
    this.group = group;
    this.splitGroups = splitGroups;
    this.origins = origins;
    this.rank = group.rank();
    this.lanes = group.lanes();
    this.own = group.own();
  }

  int rank() {
    return rank;
  }

  int size() {
    return lanes.length;
  }

  /** Returns the number of a rank in the root group that this one was split from. */
  int origin(int member) {
    return origins[member];
  }

  /** Returns the rank with a number in the root group; -1 if it is not in this group. */
  int rankOfOrigin(int origin) {
    int found = Arrays.binarySearch(origins, origin); // a split keeps the order of ranks
    return found < 0 ? -1 : found;
  }

  /** Marks this rank as one whose collectives are called by several threads. */
  synchronized void markSeveralThreads() {
    if (!left && broken == null) {
      own.markSeveralThreads();
    }
  }

  /**
   * Returns whether a rank whose collectives are called by one thread waits for this rank here.
   * This stays true until this rank arrives or the other rank aborts.
   */
  boolean isAwaitedBy(int member) {
    Lane lane = lanes[member];
    return member != rank
        && !left
        && broken == null
        && lane.hasPosted(own.memory().posted())
        && lane.state() == Lane.OPEN
        && !lane.hasSeveralThreads();
  }

  /** Returns whether a rank has begun the call that this one is in. */
  boolean hasBegunCall(int member) {
    return lanes[member].entered() >= call;
  }

  /** Returns the text of the last call that a rank has begun. */
  String callText(int member) {
    return lanes[member].callText(lanes[member].entered());
  }

  /** Requests messages of a rank that may have been lost. */
  void ask(int member) {
    if (lanes[member] instanceof Mirror mirror) {
      mirror.ask();
    }
  }

  /** Returns the number of updates from a rank, never decreasing; shared memory is always new. */
  long news(int member) {
    return lanes[member] instanceof Mirror mirror ? mirror.updates() : System.nanoTime();
  }

  /**
   * Begins a call, or throws at once if the group is known to be broken.
   *
   * @param maxWait longest time of all waits of the call together
   */
  void begin(String text, Duration maxWait) {
    call++;
    Failure first = broken;
    if (first == null) {
      first = Diagnosis.announced(lanes, call);
      if (first != null) {
        fail(first);
      }
    }
    if (first != null) {
      throw first.after(text);
    }
    callText = text;
    timeout = maxWait;
    failedTogether = false;
    digest = BoundedText.digest(text);
    own.enter(call, text);
    startClock();
  }

  /** Sets another wait time for the current call; {@link #startClock()} must follow. */
  void setTimeout(Duration maxWait) {
    timeout = maxWait;
  }

  /** Starts the clock of the following waits: the rank's own work before does not count. */
  void startClock() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  void end() {
    own.finish(call);
  }

  ByteBuffer nextPiece() {
    return own.memory().piece(round);
  }

  /**
   * Posts the own piece of the next round and waits for the pieces of all ranks.
   *
   * @param totalBytes size of the payload that the piece belongs to
   */
  void step(long totalBytes, PieceParts parts) {
    own.post(round, call, digest, totalBytes, parts);
    awaitAll();
    for (int r = 0; r < lanes.length; r++) {
      if (lanes[r].call(round) != lanes[0].call(round)
          || lanes[r].digest(round) != lanes[0].digest(round)) {
        throw breakBy(Diagnosis.mismatch(lanes, r, round));
      }
    }
    for (int r = 0; r < lanes.length; r++) {
      if (lanes[r].totalBytes(round) < 0) {
        Failure threw = Diagnosis.threw(r, callText, errorText(lanes[r]));
        round++;
        failedTogether = true;
        throw threw.during(callText);
      }
    }
    round++;
  }

  /** Returns whether a rank's own work threw in this call; the group stays usable then. */
  boolean failedTogether() {
    return failedTogether;
  }

  /**
   * Posts, in place of a first piece, that this rank's own work threw, and waits for all ranks, so
   * that each rank whose work threw raises its own exception, independent of timing.
   *
   * @return exception of the others, or of the ended wait
   */
  RuntimeException stepWithError(Throwable thrown) {
    byte[] text = BoundedText.encode(thrown.toString(), Lane.ERROR_TEXT_BYTES);
    nextPiece().put(0, text);
    try {
      step(-1L - text.length, PieceParts.common(text.length));
    } catch (RuntimeException raised) {
      return raised;
    }
    throw new IllegalStateException("no rank saw " + thrown);
  }

  private String errorText(Lane lane) {
    byte[] text = new byte[(int) Math.min(Lane.ERROR_TEXT_BYTES, -1L - lane.totalBytes(round))];
    lane.piece(round).get(0, text);
    return new String(text, StandardCharsets.UTF_8);
  }

  /** Returns the piece of a rank in the last {@link #step}; valid until the next one. */
  ByteBuffer piece(int member) {
    return lanes[member].piece(round - 1);
  }

  /** Returns the total bytes that a rank announced with its last piece. */
  long totalBytes(int member) {
    return lanes[member].totalBytes(round - 1);
  }

  /** Announces a failure to all ranks and to later calls, unless another came first. */
  synchronized void fail(Failure failure) {
    if (broken == null) {
      broken = failure;
      if (!left) {
        own.fail(failure.toPeers());
      }
      group.wakeSignal().signal();
    }
  }

  /** Tells the others that this rank no longer participates; the own lane is not written again. */
  synchronized void leave() {
    if (!left && broken == null) {
      own.leave();
    }
    left = true;
    group.wakeSignal().signal();
  }

  /** Returns true once {@link #leave} and {@link #fail} no longer write the own lane. */
  boolean hasLeft() {
    return left;
  }

  private DDStoreException breakBy(Failure failure) {
    fail(failure);
    return failure.during(callText);
  }

  private void awaitAll() {
    Waiting waiting = new Waiting(group.wakeSignal());
    CrossWatch watch = new CrossWatch(splitGroups, this);
    int arrived = 0;
    while (true) {
      while (arrived < lanes.length && lanes[arrived].hasPosted(round)) {
        arrived++;
      }
      if (arrived == lanes.length) {
        refuseIfBrokenInThisCall();
        return;
      }
      if (waiting.pause(lanes[arrived], round)) {
        boolean probing = waiting.isTimeToProbe();
        if (lanes[arrived].hasPosted(round) && !probing) {
          continue; // a check of all lanes after each arrival would take the square of the ranks
        }
        if (waiting.isTimeToAsk()) {
          askMissing(arrived);
        }
        Failure trouble = trouble(probing, watch);
        // A rank may have posted first and then closed, failed or died: this round is complete.
        if (trouble != null && !allPosted()) {
          throw breakBy(trouble);
        }
      }
    }
  }

  /** Requests messages that may be lost, from a few ranks at a time in case all are late. */
  private void askMissing(int first) {
    int asked = 0;
    for (int r = first; r < lanes.length && asked < ASKED_AT_ONCE; r++) {
      if (lanes[r] instanceof Mirror mirror && !mirror.hasPosted(round)) {
        mirror.ask();
        asked++;
      }
    }
  }

  /** Throws if a rank posted and then aborted, perhaps at its deadline. */
  private void refuseIfBrokenInThisCall() {
    for (Lane lane : lanes) {
      if (lane.state() == Lane.BROKEN && lane.finished() < call) {
        throw breakBy(lane.failure());
      }
    }
  }

  private boolean allPosted() {
    for (Lane lane : lanes) {
      if (!lane.hasPosted(round)) {
        return false;
      }
    }
    return true;
  }

  private Failure trouble(boolean probing, CrossWatch watch) {
    Failure first = broken; // abort() by another thread of this rank
    if (first == null) {
      first = Diagnosis.announced(lanes, call);
    }
    if (first == null && Thread.currentThread().isInterrupted()) {
      first = Diagnosis.interrupted(rank, callText);
    }
    if (first == null && probing) {
      first = loss();
    }
    if (first == null && probing) {
      CrossWait cross = watch.poll();
      if (cross != null) {
        first = splitGroups.breakBy(cross);
      }
    }
    if (first == null && System.nanoTime() - deadlineNs >= 0) {
      first = Diagnosis.deadline(lanes, round, call, timeout);
    }
    return first;
  }

  private Failure loss() {
    for (int r = 0; r < lanes.length; r++) {
      if (r != rank && !lanes[r].hasPosted(round) && !group.ownerLives(r)) {
        Failure said = Diagnosis.announced(lanes, call); // announced before its end
        return said != null ? said : Diagnosis.lost(lanes, r, call);
      }
    }
    return null;
  }
}

package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.ddstore.types.DDStoreException;

/**
 * The lockstep of a group as one rank sees it. A call is one or more rounds; in a round each rank
 * posts one piece and waits until all have. All waiting and every judgement on failure is here.
 */
final class Rounds {
  private static final int ASKED_AT_ONCE = 8;

  private final GroupLanes group;
  private final int rank;
  private final Lane[] lanes;
  private final OwnLane own;
  private final Family family;
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
   * @param family of the rank
   * @param origins of each rank, its number in the group that all of the family were split from
   */
  Rounds(GroupLanes group, Family family, int... origins) {
    this.group = group;
    this.family = family;
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

  /** The number of a rank in the group that this one was split from, at last. */
  int origin(int ofRank) {
    return origins[ofRank];
  }

  /** The rank that has a number there; -1 if it is not of this group. */
  int rankOfOrigin(int origin) {
    for (int r = 0; r < origins.length; r++) {
      if (origins[r] == origin) {
        return r;
      }
    }
    return -1;
  }

  /** Marks this rank as one of which several threads call collectives. */
  synchronized void markSeveralThreads() {
    if (!left && broken == null) {
      own.markSeveralThreads();
    }
  }

  /**
   * True if a rank, of which one thread calls collectives, waits for this one here. As long as this
   * one does not come, that stays so, unless the other gives up.
   */
  boolean isAwaitedBy(int ofRank) {
    Lane lane = lanes[ofRank];
    return ofRank != rank
        && !left
        && broken == null
        && lane.hasPosted(own.memory().posted())
        && lane.state() == Lane.OPEN
        && !lane.hasSeveralThreads();
  }

  /** True if a rank has begun the call that this one is in. */
  boolean hasCome(int ofRank) {
    return lanes[ofRank].entered() >= call;
  }

  /** The text of the call that a rank has begun last. */
  String callText(int ofRank) {
    return lanes[ofRank].callText(lanes[ofRank].entered());
  }

  /** Asks for what messages of a rank may have been lost. */
  void ask(int ofRank) {
    if (lanes[ofRank] instanceof Mirror mirror) {
      mirror.ask();
    }
  }

  /** How much news of a rank has come; never falls. Memory is always new. */
  long news(int ofRank) {
    return lanes[ofRank] instanceof Mirror mirror ? mirror.updates() : System.nanoTime();
  }

  /**
   * Begins a call, or throws at once if the group is known to be broken.
   *
   * @param maxWait of all its waits together
   */
  void begin(String text, Duration maxWait) {
    call++;
    Failure first = broken;
    if (first == null) {
      first = Diagnosis.saidByRanks(lanes, call);
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

  /** Gives the current call another time for its waits; {@link #startClock()} is to follow. */
  void setTimeout(Duration maxWait) {
    timeout = maxWait;
  }

  /** Starts the clock of the waits that follow: the rank's own work before does not count. */
  void startClock() {
    deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  void end() {
    own.finish(call);
  }

  /** Where the own piece of the next round is to be written. */
  ByteBuffer nextPiece() {
    return own.memory().piece(round);
  }

  /**
   * Posts the own piece of the next round and waits for those of all ranks.
   *
   * @param totalBytes of the payload of which this is a piece
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

  /**
   * True if the current call failed because a rank's own work threw: all ranks have seen that in
   * the same round, so the group is whole and can go on.
   */
  boolean failedTogether() {
    return failedTogether;
  }

  /**
   * Posts, instead of a first piece, that this rank's own work threw, and waits for all ranks: so
   * that each of them which threw raises its own exception, whoever came first.
   *
   * @return what the others raise, or what ended the wait
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

  /** The piece of a rank in the round that {@link #step} completed; valid until the next step. */
  ByteBuffer piece(int ofRank) {
    return lanes[ofRank].piece(round - 1);
  }

  /** The bytes that a rank announced with its last piece. */
  long totalBytes(int ofRank) {
    return lanes[ofRank].totalBytes(round - 1);
  }

  /** Makes a failure known to all ranks and to later calls, unless another came first. */
  synchronized void fail(Failure failure) {
    if (broken == null) {
      broken = failure;
      if (!left) {
        own.fail(failure.toPeers());
      }
      group.bell().ring();
    }
  }

  /** Tells the others that this rank takes part no more; the own lane is not written again. */
  synchronized void leave() {
    if (!left && broken == null) {
      own.leave();
    }
    left = true;
    group.bell().ring();
  }

  /** True once the own lane is no longer written by {@link #leave} or {@link #fail}. */
  boolean hasLeft() {
    return left;
  }

  private DDStoreException breakBy(Failure failure) {
    fail(failure);
    return failure.during(callText);
  }

  private void awaitAll() {
    Waiting waiting = new Waiting(group.bell());
    CrossWatch watch = new CrossWatch(family, this);
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
        if (waiting.isTimeToAsk()) {
          askMissing(arrived);
        }
        Failure trouble = trouble(waiting.isTimeToProbe(), watch);
        // A rank may have posted first and closed, failed or died then: this round is whole.
        if (trouble != null && !allPosted()) {
          throw breakBy(trouble);
        }
      }
    }
  }

  /** Asks for what messages may have been lost; a few ranks at a time, in case all are late. */
  private void askMissing(int first) {
    int asked = 0;
    for (int r = first; r < lanes.length && asked < ASKED_AT_ONCE; r++) {
      if (lanes[r] instanceof Mirror mirror && !mirror.hasPosted(round)) {
        mirror.ask();
        asked++;
      }
    }
  }

  /** A rank that posted and then gave up, at its deadline perhaps, does not take part any more. */
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
      first = Diagnosis.saidByRanks(lanes, call);
    }
    if (first == null && Thread.currentThread().isInterrupted()) {
      first = Diagnosis.interrupted(rank, callText);
    }
    if (first == null && probing) {
      first = loss();
    }
    if (first == null && probing) {
      CrossWait cross = watch.look();
      if (cross != null) {
        first = family.breakBy(cross);
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
        Failure said = Diagnosis.saidByRanks(lanes, call); // it may have said why before it ended
        return said != null ? said : Diagnosis.lost(lanes, r, call);
      }
    }
    return null;
  }
}

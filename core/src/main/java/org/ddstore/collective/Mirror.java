// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.ddstore.types.ProcessAddress;

/**
 * A copy of the lane of a rank of another process, updated by its messages. All ranks of this JVM
 * read the same mirror. After a lost message the next one leaves a gap and is not applied: messages
 * are applied in order, so the missing pieces are requested again. A rank that waits long sends a
 * request, in case no further message comes.
 */
final class Mirror implements Lane {
  private final LaneOwner owner;
  private final int rank;
  private final List<WakeSignal> wakeSignals = new CopyOnWriteArrayList<>();
  private final Slot[] slots = {new Slot(), new Slot()};
  private final CallText[] texts = {CallText.NONE, CallText.NONE};
  private Failure failure;

  // Volatile, not just released: a rank that is about to park reads them after it has set its
  // signal, and the receiving thread reads the signal after it has written them.
  private volatile long posted;
  private volatile long entered;
  private volatile long finished;
  private volatile long state;
  private volatile boolean severalThreads;
  private volatile long updates;

  /**
   * @param rank rank of the lane
   */
  Mirror(LaneOwner owner, int rank) {
    this.owner = owner;
    this.rank = rank;
  }

  LaneOwner owner() {
    return owner;
  }

  /** Adds a signal that each update from now on raises. */
  void add(WakeSignal wakeSignal) {
    wakeSignals.add(wakeSignal);
  }

  void remove(WakeSignal wakeSignal) {
    wakeSignals.remove(wakeSignal);
  }

  void apply(LaneUpdate update) {
    boolean gap;
    synchronized (this) {
      keepText(update.entered(), update.text());
      keepText(update.entered() - 1, update.textBefore());
      if (update.hasPiece() && update.posted() == posted + 1) {
        slots[(int) (posted & 1)].fill(update);
        posted = update.posted();
      }
      gap = update.posted() > posted;
      entered = Math.max(entered, update.entered());
      finished = Math.max(finished, update.finished());
      severalThreads |= update.hasSeveralThreads();
      updates++;
      if (!gap && state == OPEN) {
        failure = update.failureOrNull();
        state = update.state();
      }
    }
    signal();
    if (gap) {
      owner.askAgain(posted);
    }
  }

  long updates() {
    return updates;
  }

  /** Breaks the group, because this process cannot process a message of the lane. */
  void fail(Throwable e) {
    synchronized (this) {
      if (state == OPEN) {
        failure =
            new Failure(
                Failure.Kind.RANK_FAILED,
                rank,
                "a message of rank %d could not be processed: %s".formatted(rank, e));
        state = BROKEN;
      }
    }
    signal();
  }

  /** Records that the owner no longer has this lane. */
  void markGone() {
    synchronized (this) {
      if (state == OPEN) {
        state = CLOSED;
      }
    }
    signal();
  }

  /** Handles a lost connection: messages in flight from or to the process may be lost. */
  void disconnected(ProcessAddress process) {
    if (owner.process().equals(process)
        && wakeSignals.stream().anyMatch(wakeSignal -> wakeSignal.awaits(this))) {
      ask();
    }
  }

  /** Requests the state from the owner, unless it was requested very recently. */
  void ask() {
    owner.ask(posted);
  }

  private void signal() {
    for (WakeSignal wakeSignal : wakeSignals) {
      wakeSignal.signal(this);
    }
  }

  private void keepText(long call, byte[] text) {
    int at = (int) (call & 1);
    if (text.length > 0 && call > texts[at].call) {
      texts[at] = new CallText(call, text);
    }
  }

  @Override
  public boolean hasPosted(long round) {
    return posted > round;
  }

  @Override
  public long entered() {
    return entered;
  }

  @Override
  public long finished() {
    return finished;
  }

  @Override
  public long state() {
    return state;
  }

  @Override
  public boolean hasSeveralThreads() {
    return severalThreads;
  }

  @Override
  public synchronized Failure failure() {
    return failure;
  }

  @Override
  public synchronized String callText(long call) {
    CallText text = texts[(int) (call & 1)];
    return text.call == call ? new String(text.utf8, StandardCharsets.UTF_8) : "a call";
  }

  @Override
  public long call(long round) {
    return slot(round).call;
  }

  @Override
  public long digest(long round) {
    return slot(round).digest;
  }

  @Override
  public long totalBytes(long round) {
    return slot(round).totalBytes;
  }

  @Override
  public ByteBuffer piece(long round) {
    return slot(round).piece.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  private Slot slot(long round) {
    return slots[(int) (round & 1)];
  }

  @Override
  public String toString() {
    return "mirror of lane %s of the process at %s".formatted(owner.lane(), owner.process());
  }

  /** The text of a call, in UTF-8. */
  private static final class CallText {
    static final CallText NONE = new CallText(0, new byte[0]);

    final long call;
    final byte[] utf8;

    CallText(long call, byte[] utf8) {
      this.call = call;
      this.utf8 = utf8;
    }
  }

  /** A piece and its round; the buffer is as long as the longest piece so far. */
  private static final class Slot {
    long call;
    long digest;
    long totalBytes;
    ByteBuffer piece = ByteBuffer.allocate(0);

    void fill(LaneUpdate update) {
      if (piece.capacity() < update.usedBytes()) {
        int bytes = Math.max(update.usedBytes(), 2 * piece.capacity());
        piece = ByteBuffer.allocate(Math.min(bytes, SLOT_BYTES));
      }
      call = update.call();
      digest = update.digest();
      totalBytes = update.totalBytes();
      update.copyPiece(piece);
    }
  }
}

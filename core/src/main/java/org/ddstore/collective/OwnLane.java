// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * The lane of a rank of this JVM, as that rank writes it: into memory, and by message to each
 * process that has requested it because it cannot read this memory. A message is sent with each
 * piece and at the end; the begin and the completion of a call travel with the next message. A
 * waiting rank sends a request and sees them then.
 *
 * <p>The lock keeps messages in the order of the writes, and the memory allocated until they are
 * written.
 */
final class OwnLane {
  private final Nonce nonce;
  private final Messenger messenger;
  private final LaneMemory memory;
  private final LaneUpdate.Writer writer;
  private final Set<ProcessAddress> askers = new LinkedHashSet<>();
  private final PieceParts[] parts = {PieceParts.common(0), PieceParts.common(0)};
  private Map<ProcessAddress, int[]> ranksOf = Map.of();
  private boolean retired;

  /**
   * @param messenger may be null: then no process requests the lane
   */
  OwnLane(Nonce nonce, LaneMemory memory, Messenger messenger) {
    this.nonce = nonce;
    this.memory = memory;
    this.messenger = messenger;
    this.writer = new LaneUpdate.Writer(nonce, memory);
  }

  Nonce nonce() {
    return nonce;
  }

  LaneMemory memory() {
    return memory;
  }

  /** Sets which ranks, ascending, read the lane in each process; others get whole pieces. */
  synchronized void setRanksOf(Map<ProcessAddress, int[]> ranks) {
    ranksOf = Map.copyOf(ranks);
  }

  synchronized void enter(long call, String text) {
    memory.enter(call, text);
  }

  synchronized void finish(long call) {
    memory.finish(call);
  }

  /** Publishes the piece of a round; everything else in the slot was written before. */
  synchronized void post(
      long round, long call, long digest, long totalBytes, PieceParts pieceParts) {
    memory.post(round, call, digest, totalBytes);
    parts[(int) (round & 1)] = pieceParts;
    ByteBuffer shared = null;
    for (ProcessAddress asker : askers) {
      if (shared == null || pieceParts.isDealtOut()) {
        shared = writer.piece(round, ranges(round, asker), false);
      }
      messenger.send(asker, shared.duplicate());
    }
  }

  /** Marks this rank as one whose collectives are called by several threads. */
  synchronized void markSeveralThreads() {
    memory.markSeveralThreads();
    sendWords();
  }

  /** Announces why this rank no longer participates, unless it has already announced an end. */
  synchronized void fail(Failure failure) {
    if (memory.state() == Lane.OPEN) {
      memory.fail(failure);
      sendWords();
    }
  }

  /** Announces that this rank no longer participates, unless it has announced a reason. */
  synchronized void leave() {
    if (memory.state() == Lane.OPEN) {
      memory.leave();
      sendWords();
    }
  }

  /**
   * Sends a process the rounds that it lacks, and everything from now on.
   *
   * @return false once retired
   */
  synchronized boolean answer(LaneRequest ask) {
    if (retired) {
      return false;
    }
    long posted = memory.posted();
    boolean known = !askers.add(ask.asker());
    if (ask.posted() >= posted || (known && !ask.missed())) {
      messenger.send(ask.asker(), writer.words());
      return true;
    }
    for (long round = Math.max(ask.posted(), posted - 2); round < posted; round++) {
      messenger.send(ask.asker(), writer.piece(round, ranges(round, ask.asker()), true));
    }
    return true;
  }

  /** Releases the memory and returns the messages that a process may still request. */
  synchronized List<ByteBuffer> retire() {
    retired = true;
    List<ByteBuffer> last = new ArrayList<>();
    long posted = memory.posted();
    for (long round = Math.max(0, posted - 2); round < posted; round++) {
      int[] whole = {0, parts[(int) (round & 1)].usedBytes()};
      last.add(copy(writer.piece(round, whole, true)));
    }
    if (posted == 0) {
      last.add(copy(writer.words()));
    }
    return last;
  }

  private void sendWords() {
    if (!askers.isEmpty()) {
      ByteBuffer words = writer.words();
      askers.forEach(asker -> messenger.send(asker, words.duplicate()));
    }
  }

  private int[] ranges(long round, ProcessAddress asker) {
    PieceParts piece = parts[(int) (round & 1)];
    int[] ranks = ranksOf.get(asker);
    return ranks == null ? new int[] {0, piece.usedBytes()} : piece.ranges(ranks);
  }

  private static ByteBuffer copy(ByteBuffer message) {
    return ByteBuffer.allocate(message.remaining()).put(message).flip();
  }
}

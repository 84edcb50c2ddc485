// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The memory in which one rank publishes data to all others. Its owner writes it, all ranks read
 * it; a word is published with release and read with acquire semantics. Little-endian:
 *
 * <pre>
 *      0  identity of the file, see {@link LaneFile}
 *    128  int64 posted     rounds this rank has put into its slots
 *    256  int64 entered    calls it has begun      (calls count from 1)
 *    384  int64 finished   calls it has completed
 *    392  int64 threads    0 one, 1 several call collectives of the rank's groups
 *    512  int64 state      0 open, 1 broken, 2 closed
 *    520  int32 failure kind, int32 failure rank, int32 text bytes, text (up to 1000)
 *   1536  int32 text bytes, text of calls with an even number (up to 508)
 *   2048  the same, odd
 *   4096  slot of even rounds: int64 call, int64 digest, int64 total bytes, at +64 the piece
 *   4096 + 64 + SLOT_BYTES  slot of odd rounds
 * </pre>
 *
 * <p>Each word that ranks wait for has two cache lines of its own, because the adjacent line is
 * prefetched.
 */
final class LaneMemory implements Lane {
  private static final int POSTED = 128;
  private static final int ENTERED = 256;
  private static final int FINISHED = 384;
  private static final int THREADS = 392;
  private static final int STATE = 512;
  private static final int FAILURE_KIND = 520;
  private static final int FAILURE_RANK = 524;
  private static final int FAILURE_TEXT = 528;
  private static final int CALL_TEXT = 1536;
  private static final int CACHE_LINE_BYTES = 64;
  private static final int SLOTS = 4096;
  private static final int SLOT_HEADER_BYTES = 64;

  static final int BYTES = SLOTS + 2 * (SLOT_HEADER_BYTES + SLOT_BYTES);

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;

  /**
   * @param memory {@link #BYTES} bytes at an address that is a multiple of 8
   */
  LaneMemory(ByteBuffer memory) {
    this.memory = memory.slice(0, BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Allocates memory of this JVM alone, which is freed once unreachable. */
  static LaneMemory allocate() {
    return new LaneMemory(
        ByteBuffer.allocateDirect(BYTES + CACHE_LINE_BYTES).alignedSlice(CACHE_LINE_BYTES));
  }

  @Override
  public boolean hasPosted(long round) {
    return word(POSTED) > round;
  }

  @Override
  public long entered() {
    return word(ENTERED);
  }

  @Override
  public long finished() {
    return word(FINISHED);
  }

  @Override
  public long state() {
    return word(STATE);
  }

  @Override
  public boolean hasSeveralThreads() {
    return word(THREADS) != 0;
  }

  @Override
  public Failure failure() {
    return new Failure(
        Failure.Kind.ofCode(memory.getInt(FAILURE_KIND)),
        memory.getInt(FAILURE_RANK),
        text(FAILURE_TEXT, FAILURE_TEXT_BYTES));
  }

  @Override
  public String callText(long call) {
    return text(callTextAt(call), CALL_TEXT_BYTES);
  }

  @Override
  public long call(long round) {
    return memory.getLong(slot(round));
  }

  @Override
  public long digest(long round) {
    return memory.getLong(slot(round) + Long.BYTES);
  }

  @Override
  public long totalBytes(long round) {
    return memory.getLong(slot(round) + 2 * Long.BYTES);
  }

  @Override
  public ByteBuffer piece(long round) {
    return memory.slice(slot(round) + SLOT_HEADER_BYTES, SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  long posted() {
    return word(POSTED);
  }

  /** Returns the text of a call, as {@link #callText} does, in UTF-8. */
  byte[] callTextBytes(long call) {
    return textBytes(callTextAt(call), CALL_TEXT_BYTES);
  }

  // Methods of the owner.

  void enter(long call, String text) {
    putText(callTextAt(call), text, CALL_TEXT_BYTES);
    publish(ENTERED, call);
  }

  void finish(long call) {
    publish(FINISHED, call);
  }

  /** Publishes the piece of a round; everything else in the slot was written before. */
  void post(long round, long call, long digest, long totalBytes) {
    int slot = slot(round);
    memory.putLong(slot, call);
    memory.putLong(slot + Long.BYTES, digest);
    memory.putLong(slot + 2 * Long.BYTES, totalBytes);
    publish(POSTED, round + 1);
  }

  void markSeveralThreads() {
    publish(THREADS, 1);
  }

  void fail(Failure failure) {
    memory.putInt(FAILURE_KIND, failure.kind().code());
    memory.putInt(FAILURE_RANK, failure.rank());
    putText(FAILURE_TEXT, failure.message(), FAILURE_TEXT_BYTES);
    publish(STATE, BROKEN);
  }

  void leave() {
    publish(STATE, CLOSED);
  }

  private static int slot(long round) {
    return SLOTS + (int) (round & 1) * (SLOT_HEADER_BYTES + SLOT_BYTES);
  }

  private static int callTextAt(long call) {
    return CALL_TEXT + (int) (call & 1) * (Integer.BYTES + CALL_TEXT_BYTES);
  }

  private long word(int at) {
    return (long) WORDS.getAcquire(memory, at);
  }

  private void publish(int at, long value) {
    WORDS.setRelease(memory, at, value);
  }

  private String text(int at, int maxBytes) {
    return new String(textBytes(at, maxBytes), StandardCharsets.UTF_8);
  }

  private byte[] textBytes(int at, int maxBytes) {
    byte[] bytes = new byte[Math.max(0, Math.min(memory.getInt(at), maxBytes))];
    memory.get(at + Integer.BYTES, bytes);
    return bytes;
  }

  private void putText(int at, String text, int maxBytes) {
    byte[] bytes = BoundedText.encode(text, maxBytes);
    memory.putInt(at, bytes.length);
    memory.put(at + Integer.BYTES, bytes);
  }
}

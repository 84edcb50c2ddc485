package org.ddstore.collective;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The memory in which one rank speaks to all others. Its owner writes it, everybody reads it; a
 * word is published with release and read with acquire semantics. Little-endian:
 *
 * <pre>
 *      0  identity of the file, see {@link LaneFile}
 *    128  int64 posted     rounds this rank has put into its slots
 *    256  int64 entered    calls it has begun      (calls count from 1)
 *    384  int64 finished   calls it has completed
 *    512  int64 state      0 open, 1 broken, 2 closed
 *    520  int32 failure kind, int32 failure rank, int32 text bytes, text (up to 1000)
 *   1536  int32 text bytes, text of calls with an even number (up to 508)
 *   2048  the same, odd
 *   4096  slot of even rounds: int64 call, int64 digest, int64 total bytes, at +64 the piece
 *   4096 + 64 + SLOT_BYTES  slot of odd rounds
 * </pre>
 *
 * <p>Each word that is waited for has two cache lines of its own (the neighbour line is
 * prefetched). <b>Two slots suffice</b>: round n goes into the slot of round n - 2. A rank puts it
 * there only after it has seen that all ranks posted round n - 1, and a rank posts n - 1 only after
 * it has read everything of n - 2. One slot would not do: a peer may still be reading n - 1. The
 * texts of calls alternate for the same reason.
 */
final class Lane {
  /** Bytes of one piece of a payload. 2.6 MB travel in 10 rounds; a rank has two such slots. */
  static final int SLOT_BYTES = 256 * 1024;

  static final long OPEN = 0;
  static final long BROKEN = 1;
  static final long CLOSED = 2;

  private static final int POSTED = 128;
  private static final int ENTERED = 256;
  private static final int FINISHED = 384;
  private static final int STATE = 512;
  private static final int FAILURE_KIND = 520;
  private static final int FAILURE_RANK = 524;
  private static final int FAILURE_TEXT = 528;
  private static final int FAILURE_TEXT_BYTES = 1000;
  private static final int CALL_TEXT = 1536;
  private static final int CALL_TEXT_BYTES = 508;
  private static final int SLOTS = 4096;
  private static final int SLOT_HEADER_BYTES = 64;

  /** Size of a lane in bytes. */
  static final int BYTES = SLOTS + 2 * (SLOT_HEADER_BYTES + SLOT_BYTES);

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer memory;

  /**
   * @param memory {@link #BYTES} bytes at an address that is a multiple of 8
   */
  Lane(ByteBuffer memory) {
    this.memory = memory.slice(0, BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  boolean hasPosted(long round) {
    return word(POSTED) > round;
  }

  /** The call this rank is in or was in last; 0 before the first. */
  long entered() {
    return word(ENTERED);
  }

  /** The call this rank completed last; 0 before the first. */
  long finished() {
    return word(FINISHED);
  }

  long state() {
    return word(STATE);
  }

  /** Why the rank gave up; only once {@link #state()} is {@link #BROKEN}. */
  Failure failure() {
    return new Failure(
        Failure.Kind.ofCode(memory.getInt(FAILURE_KIND)),
        memory.getInt(FAILURE_RANK),
        text(FAILURE_TEXT, FAILURE_TEXT_BYTES));
  }

  /** The text of call {@code call}, the last one entered or the one before. */
  String callText(long call) {
    return text(callTextAt(call), CALL_TEXT_BYTES);
  }

  long call(long round) {
    return memory.getLong(slot(round));
  }

  long digest(long round) {
    return memory.getLong(slot(round) + Long.BYTES);
  }

  /**
   * Bytes of the whole payload of which the round carries a piece; -1 - n if the rank's own work
   * threw and the piece is n bytes of text.
   */
  long totalBytes(long round) {
    return memory.getLong(slot(round) + 2 * Long.BYTES);
  }

  /** The piece of a round, {@link #SLOT_BYTES} from position 0 on, little-endian. */
  ByteBuffer piece(long round) {
    return memory.slice(slot(round) + SLOT_HEADER_BYTES, SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  // The owner's side.

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
    int length = Math.max(0, Math.min(memory.getInt(at), maxBytes));
    byte[] bytes = new byte[length];
    memory.get(at + Integer.BYTES, bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private void putText(int at, String text, int maxBytes) {
    byte[] bytes = BoundedText.encode(text, maxBytes);
    memory.putInt(at, bytes.length);
    memory.put(at + Integer.BYTES, bytes);
  }
}

package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.PeerCalls;

/**
 * What the driver may ask of a process that holds shards of a resident store, and the answers. A
 * question is a byte, and for those about one attempt to load its number (16 bytes).
 */
record ResidentControl(Nonce store) implements PeerCalls.Service {
  private static final byte CONFIRM = 1;
  private static final byte FORGET = 2;
  private static final byte DROP = 3;
  private static final byte SUMMARY = 4;

  /** Keep what an attempt has loaded. Answer: a byte, 1 if something of it was there. */
  static ByteBuffer confirm(Nonce attempt) {
    return about(CONFIRM, attempt);
  }

  /** Free what an attempt has loaded. Answer: a byte; it is freed a moment later. */
  static ByteBuffer forget(Nonce attempt) {
    return about(FORGET, attempt);
  }

  /** Free everything, and leave the store. Answer: a byte; who asks again finds the store gone. */
  static ByteBuffer drop() {
    return ByteBuffer.wrap(new byte[] {DROP});
  }

  /** What is there. Answer: see {@link #parseSummary}. */
  static ByteBuffer summary() {
    return ByteBuffer.wrap(new byte[] {SUMMARY});
  }

  static ResidentShards.Summary parseSummary(ByteBuffer answer) {
    return new ResidentShards.Summary(
        answer.getInt(), answer.getLong(), answer.getLong(), answer.getLong());
  }

  static boolean parseFound(ByteBuffer answer) {
    return answer.get() != 0;
  }

  private static ByteBuffer about(byte what, Nonce attempt) {
    return ByteBuffer.allocate(1 + 2 * Long.BYTES)
        .put(what)
        .putLong(attempt.high())
        .putLong(attempt.low())
        .flip();
  }

  private static Nonce attempt(ByteBuffer question) {
    return new Nonce(question.getLong(), question.getLong());
  }

  @Override
  public ByteBuffer answer(ByteBuffer question) {
    byte what = question.get();
    return switch (what) {
      case CONFIRM -> found(ResidentShards.confirm(store, attempt(question)));
      case FORGET -> {
        Nonce attempt = attempt(question);
        later("forget", () -> ResidentShards.forget(store, attempt));
        yield found(true);
      }
      case DROP -> {
        if (ResidentShards.beginDrop(store)) { // the driver asks again and again
          later("drop", () -> ResidentShards.drop(store));
        }
        yield found(true);
      }
      case SUMMARY -> {
        ResidentShards.Summary summary = ResidentShards.summary(store);
        yield ByteBuffer.allocate(Integer.BYTES + 3 * Long.BYTES)
            .putInt(summary.shards())
            .putLong(summary.rows())
            .putLong(summary.bytes())
            .putLong(summary.servedRequests())
            .flip();
      }
      default -> throw new IllegalArgumentException("question " + what);
    };
  }

  private static ByteBuffer found(boolean found) {
    return ByteBuffer.wrap(new byte[] {(byte) (found ? 1 : 0)});
  }

  /** Unmapping large memory takes longer than a thread of the network may. */
  private static void later(String what, Runnable work) {
    Thread thread = new Thread(work, "ddstore-" + what);
    thread.setDaemon(true);
    thread.start();
  }
}

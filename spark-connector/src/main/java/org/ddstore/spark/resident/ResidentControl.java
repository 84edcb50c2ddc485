// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.OutsidePort;
import org.ddstore.transport.PeerCalls;

/**
 * The control requests of the driver to a process that holds shards of a resident store, and the
 * answers. A request is one byte, followed by the attempt's number (16 bytes) if it concerns one
 * attempt to load.
 */
record ResidentControl(Nonce store) implements PeerCalls.Service {
  private static final byte CONFIRM = 1;
  private static final byte FORGET = 2;
  private static final byte DROP = 3;
  private static final byte COUNTERS = 4;
  private static final byte OPEN = 5;

  /** Requests to keep the rows of an attempt. Answer: see {@link #parseShards}. */
  static ByteBuffer confirm(Nonce attempt) {
    return about(CONFIRM, attempt);
  }

  /** Requests to free the rows of an attempt. Answer: one byte, sent before they are freed. */
  static ByteBuffer forget(Nonce attempt) {
    return about(FORGET, attempt);
  }

  /** Requests to free all rows and leave the store. Answer: one byte; later, the store is gone. */
  static ByteBuffer drop() {
    return ByteBuffer.wrap(new byte[] {DROP});
  }

  /** Requests the counters. Answer: see {@link ExecutorCounters#parse}. */
  static ByteBuffer counters() {
    return ByteBuffer.wrap(new byte[] {COUNTERS});
  }

  /**
   * Requests to let readers from outside of Spark read, apart from those of revoked grants. Answer:
   * see {@link #parseOpen}.
   */
  static ByteBuffer open(Set<String> revokedLabels) {
    byte[] labels = String.join("\n", revokedLabels).getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(1 + labels.length).put(OPEN).put(labels).flip();
  }

  static OutsidePort parseOpen(ByteBuffer answer) {
    int port = answer.getInt();
    return new OutsidePort(port, StandardCharsets.UTF_8.decode(answer).toString());
  }

  private static ByteBuffer answerOpen(Nonce store, ByteBuffer question) {
    String labels = StandardCharsets.US_ASCII.decode(question).toString();
    Set<String> revoked = labels.isEmpty() ? Set.of() : Set.of(labels.split("\n"));
    OutsidePort port = ResidentShards.openToOutsiders(store, revoked);
    byte[] reason = port.reason().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Integer.BYTES + reason.length)
        .putInt(port.port())
        .put(reason)
        .flip();
  }

  /** Returns the number of shards that are confirmed, of the answer to {@link #confirm}. */
  static int parseShards(ByteBuffer answer) {
    return answer.getInt();
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
      case CONFIRM ->
          ByteBuffer.allocate(Integer.BYTES)
              .putInt(ResidentShards.confirm(store, attempt(question)))
              .flip();
      case FORGET -> {
        Nonce attempt = attempt(question);
        later("forget", () -> ResidentShards.forget(store, attempt));
        yield done();
      }
      case DROP -> {
        if (ResidentShards.beginDrop(store)) { // the driver repeats the request
          later("drop", () -> ResidentShards.drop(store));
        }
        if (Visit.isOpen(store)) {
          later("drop", () -> Visit.end(store));
        }
        yield done();
      }
      case OPEN -> answerOpen(store, question);
      case COUNTERS -> ResidentShards.counters(store).encode();
      default -> throw new IllegalArgumentException("question " + what);
    };
  }

  private static ByteBuffer done() {
    return ByteBuffer.wrap(new byte[] {1});
  }

  /** Runs work in a separate thread: unmapping large memory would block a network thread. */
  private static void later(String what, Runnable work) {
    Thread thread = new Thread(work, "ddstore-" + what);
    thread.setDaemon(true);
    thread.start();
  }
}

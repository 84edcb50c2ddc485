// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.ServedReads;

/**
 * The owner's side of a data channel. After its {@link Admission}, the peer sends gather requests,
 * each after its size as an int32, and gets the replies in the same order, from C or from Java.
 * Requests are not read while a reply is being sent. Used by the thread of its {@link DataLoop}.
 */
final class ServedChannel {
  /** Maximum size of a request with its size field: all rows in segments of their own. */
  static final int MAX_FRAME_BYTES =
      GatherRequest.HEADER_BYTES
          + GatherRequest.MAX_ROWS * (GatherRequest.SEGMENT_BYTES + Long.BYTES);

  private final DataLoop loop;
  private final SocketChannel channel;
  private final long openedNs = System.nanoTime();
  private final Admission admission;
  private SelectionKey key;
  private Admission.Admitted peer; // null before it is admitted
  private long numberInC; // 0: not answered by C
  private JavaAnswers inJava; // null: not answered by Java
  private ServedReads reads; // null: not counted, or closed

  ServedChannel(DataLoop loop, SocketChannel channel) {
    this.loop = loop;
    this.channel = channel;
    this.admission = new Admission(loop.service().tickets(), loop.service().stores());
  }

  /** Lets the selector of the loop call {@link #ready}. */
  void register(Selector selector) throws IOException {
    key = channel.register(selector, SelectionKey.OP_READ, this);
    loop.selectorChanged();
  }

  DataLoop loop() {
    return loop;
  }

  SocketChannel channel() {
    return channel;
  }

  SelectionKey key() {
    return key;
  }

  /** Returns the store that the peer may read; null before it is admitted. */
  Nonce store() {
    return peer == null ? null : peer.store();
  }

  /** Returns the counters of the peer's reads; null for a peer of the application. */
  ServedReads reads() {
    return reads;
  }

  /** Returns the address of the peer's host. */
  Object host() {
    return channel.socket().getInetAddress();
  }

  long openedNs() {
    return openedNs;
  }

  /** Reads and answers requests, or continues a reply. Does not block. */
  void ready() {
    guard(inJava == null ? this::admit : inJava::ready);
  }

  /** Closes the channel if a step fails, and reports why. */
  void guard(DataLoop.Step step) {
    try {
      step.run();
    } catch (SecurityException e) {
      refuse(e.getMessage(), "");
    } catch (IllegalArgumentException e) {
      refuse("an illegal request", e.getMessage());
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      refuse("a truncated request", "");
    } catch (IOException e) { // the peer has ended
      close();
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void admit() throws IOException {
    peer = admission.read(channel);
    if (peer == null) {
      return;
    }
    loop.admitted(this, peer.claims() != null);
    reads = peer.reads();
    if (reads != null) {
      reads.opened();
    }
    if (loop.inC() == null) {
      inJava = new JavaAnswers(this);
      return;
    }
    GatherServer rows = loop.service().stores().rows(peer.store());
    if (rows == null) { // the peer asks for admission again, and learns why there is none
      close();
      return;
    }
    key.interestOps(0);
    loop.selectorChanged();
    numberInC = loop.inC().add(this, rows, channel);
  }

  /** Closes the channel if the grant of its peer has ended. */
  void closeUnlessValid(long nowMs) {
    if (!peer.isValid(nowMs)) {
      close();
    }
  }

  void refuse(String cause, String detail) {
    loop.service().refusals().report(channel.socket().getRemoteSocketAddress(), cause, detail);
    close();
  }

  /** Closes the channel after a failure of this process. */
  void fail(Throwable e) {
    loop.service().refusals().reportFailure(channel.socket().getRemoteSocketAddress(), e);
    close();
  }

  /** Closes the channel and releases the segments of a reply. Idempotent. */
  void close() {
    if (inJava != null) {
      inJava.end();
    }
    loop.forget(this);
    if (numberInC != 0) {
      loop.inC().remove(numberInC);
      numberInC = 0;
    }
    if (reads != null) {
      reads.closed();
      reads = null;
    }
    key.cancel();
    loop.selectorChanged();
    try {
      channel.close();
    } catch (IOException e) {
      loop.service().refusals().reportFailure(null, e);
    }
  }
}

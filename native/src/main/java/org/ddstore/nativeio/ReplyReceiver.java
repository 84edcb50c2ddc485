// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.ddstore.memory.RawAddress;

/**
 * The receipt of replies on many data channels by one thread, in C: into memory that the caller
 * names, several replies in one call. Compared with Java it has no code to compile. Used by one
 * thread.
 */
public final class ReplyReceiver implements AutoCloseable {
  /** The kind of an arrival on a channel. */
  public enum Kind {
    /** A part of the reply. */
    PART,
    /** The whole reply; the channel expects nothing now. */
    WHOLE,
    /** The beginning of a reply whose status is not 0; the channel expects nothing now. */
    STATUS,
    /** The peer has ended, or there is an error, see {@link #error}; reported until the removal. */
    END
  }

  private static final int ENOTSUP = 95;
  private static final Kind[] KINDS = Kind.values();

  private static final int SELECTOR = 0;
  private static final int SHORT_WAITS = Long.BYTES;
  private static final int HEADER_BYTES = 2 * Long.BYTES;
  private static final int NUMBER = 0;
  private static final int KIND = Long.BYTES;
  private static final int BYTES = 2 * Long.BYTES;
  private static final int ERROR = 3 * Long.BYTES;
  private static final int ARRIVAL_BYTES = 4 * Long.BYTES;

  /** Largest number of arrivals that one call of {@link #receive} reports. */
  private static final int MOST_ARRIVALS = 64;

  private final long handle;
  private final ByteBuffer result =
      ByteBuffer.allocateDirect(HEADER_BYTES + MOST_ARRIVALS * ARRIVAL_BYTES)
          .order(ByteOrder.nativeOrder());
  private final long resultAddress = RawAddress.of(result);

  private ReplyReceiver(long handle) {
    this.handle = handle;
  }

  /**
   * Opens a receiver, closed by the caller before the selector.
   *
   * @param selector selector whose ready channels and wake-ups also end {@link #receive}
   * @return null if the library is not loaded or does not know the selectors of this JDK
   * @throws IOException if the system has no descriptor or memory left
   */
  public static ReplyReceiver open(Selector selector) throws IOException {
    if (!NativeLibrary.isLoaded()) {
      return null;
    }
    long handle = openReceiver(selector);
    return handle == -ENOTSUP ? null : new ReplyReceiver(check(handle, "open"));
  }

  private static long check(long result, String call) throws IOException {
    if (result < 0) {
      throw new IOException(
          "cannot %s the receiver of replies in C: %s".formatted(call, text((int) -result)));
    }
    return result;
  }

  /** Adds a channel, which nothing else reads, until {@link #remove}; returns its handle. */
  public long add(SocketChannel channel, int number) throws IOException {
    return check(addChannel(handle, channel, number), "add a channel to");
  }

  /** Removes a channel before its end. The memory for its reply is not written any more. */
  public void remove(long channel) {
    removeChannel(handle, channel);
  }

  /** Sends bytes without blocking, and advances the direct buffer; throws if the peer has ended. */
  public void send(long channel, ByteBuffer bytes) throws IOException {
    int sent = send(channel, RawAddress.of(bytes) + bytes.position(), bytes.remaining());
    if (sent < 0) {
      throw new IOException("cannot send a request on a data channel: " + text(-sent));
    }
    bytes.position(bytes.position() + sent);
  }

  /**
   * Expects a reply on a channel that expects none. It is received into the remaining bytes of
   * direct buffers, which stay allocated until it is whole or the channel is removed, and whose
   * positions do not change.
   *
   * @param head status and what follows it; empty for a reply that continues another one. What
   *     follows a status that is not 0 fills the buffers, too; its rest may then be expected
   * @param more whether {@link #receive} returns when the reply is whole, although others are not
   */
  public void expect(
      long channel, ByteBuffer head, ByteBuffer data, ByteBuffer tail, boolean more) {
    expect(
        handle,
        channel,
        address(head),
        head.remaining(),
        address(data),
        data.remaining(),
        address(tail),
        tail.remaining(),
        more);
  }

  private static long address(ByteBuffer buffer) {
    return buffer.hasRemaining() ? RawAddress.of(buffer) + buffer.position() : 0;
  }

  /**
   * Waits for replies until all expected ones are whole, the caller has to do something, or the
   * time is over. {@link Selector#wakeup()} ends it, an interrupt does not.
   *
   * @param timeoutMs longest duration of all waits in milliseconds; 0 not to wait, -1: unlimited
   * @param mostWaits number of short waits after which it returns, too
   * @param shortNs longest duration of a short wait in nanoseconds
   * @return number of arrivals, at most one for each channel; the next call reports those for which
   *     there is no room
   */
  public int receive(int timeoutMs, int mostWaits, long shortNs) throws IOException {
    return (int)
        check(
            receive(handle, timeoutMs, mostWaits, shortNs, resultAddress, MOST_ARRIVALS),
            "wait for replies with");
  }

  /** Returns the number of short waits of the last {@link #receive} that a channel ended. */
  public int shortWaits() {
    return (int) result.getLong(SHORT_WAITS);
  }

  public boolean isSelectorReady() {
    return result.getLong(SELECTOR) != 0;
  }

  public int number(int arrival) {
    return (int) result.getLong(HEADER_BYTES + arrival * ARRIVAL_BYTES + NUMBER);
  }

  public Kind kind(int arrival) {
    return KINDS[(int) result.getLong(HEADER_BYTES + arrival * ARRIVAL_BYTES + KIND)];
  }

  /** Returns the number of bytes of the reply that have been received, all together. */
  public int bytes(int arrival) {
    return (int) result.getLong(HEADER_BYTES + arrival * ARRIVAL_BYTES + BYTES);
  }

  /** Returns why a channel can receive nothing more; null if it can. */
  public IOException error(int arrival) {
    if (kind(arrival) != Kind.END) {
      return null;
    }
    int error = (int) result.getLong(HEADER_BYTES + arrival * ARRIVAL_BYTES + ERROR);
    return error == 0
        ? new EOFException("the peer has closed the data channel")
        : new IOException("cannot receive rows on a data channel: " + text(error));
  }

  /** Removes all channels, which stay open. Call once. */
  @Override
  public void close() {
    closeReceiver(handle);
  }

  @Override
  public String toString() {
    return "ReplyReceiver[%d arrivals]".formatted(MOST_ARRIVALS);
  }

  /** Returns a handle, or -errno. */
  private static native long openReceiver(Selector selector);

  private static native void closeReceiver(long receiver);

  /** Returns a handle, or -errno. */
  private static native long addChannel(long receiver, SocketChannel channel, int number);

  private static native void removeChannel(long receiver, long channel);

  /** Returns the number of bytes sent, or -errno. */
  private static native int send(long channel, long bytes, int count);

  private static native void expect(
      long receiver,
      long channel,
      long head,
      int headBytes,
      long data,
      int dataBytes,
      long tail,
      int tailBytes,
      boolean more);

  private static native String text(int error);

  /** Returns the number of arrivals, or -errno. */
  private static native int receive(
      long receiver, int timeoutMs, int mostWaits, long shortNs, long result, int most);
}

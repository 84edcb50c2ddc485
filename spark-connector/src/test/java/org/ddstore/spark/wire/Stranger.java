// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.ddstore.types.ProcessAddress;

/** A plain connection to a network end, over which any bytes may go. */
public final class Stranger implements AutoCloseable {
  public static final byte RPC_REQUEST = 3;
  static final byte RPC_RESPONSE = 4;
  static final byte RPC_FAILURE = 5;
  static final byte ONE_WAY = 9;

  /** Bytes of a frame's header: 8 bytes of the frame's whole length, and its type. */
  static final int FRAME_HEADER_BYTES = Long.BYTES + 1;

  private static final int PATIENCE_MS = 60_000;

  private final Socket socket;

  Stranger(ProcessAddress to) throws IOException {
    this(to, "127.0.0.1");
  }

  /**
   * @param from the loopback address that the network end sees
   */
  Stranger(ProcessAddress to, String from) throws IOException {
    socket = new Socket(to.host(), to.port(), InetAddress.getByName(from), 0);
    socket.setSoTimeout(PATIENCE_MS);
  }

  int port() {
    return socket.getLocalPort();
  }

  /** Sends what the other side still takes; it may have closed the connection by now. */
  public Stranger send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      // Refused in the middle of it.
    }
    return this;
  }

  /** Sends no more, and goes on to listen. */
  void end() {
    try {
      socket.shutdownOutput();
    } catch (IOException e) {
      // Refused already.
    }
  }

  /**
   * Waits until the other side has closed the connection; what it says before is of no interest.
   */
  public void awaitRefusal() {
    byte[] some = new byte[4096];
    try {
      int count;
      do {
        count = socket.getInputStream().read(some);
      } while (count >= 0);
    } catch (SocketTimeoutException e) {
      fail("the connection of port %d is still open".formatted(port()), e);
    } catch (IOException e) {
      // Reset, because it had not read all of what came.
    }
  }

  /** Breaks the connection without a word. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** A frame of the right length. */
  static byte[] frame(byte type, byte[] body) {
    return frame(FRAME_HEADER_BYTES + body.length, type, body);
  }

  static byte[] frame(long lengthBytes, byte type, byte[] body) {
    return ByteBuffer.allocate(FRAME_HEADER_BYTES + body.length)
        .putLong(lengthBytes)
        .put(type)
        .put(body)
        .array();
  }

  /** A request as Spark frames it. */
  public static byte[] request(byte[] request) {
    return frame(
        RPC_REQUEST,
        ByteBuffer.allocate(Long.BYTES + Integer.BYTES + request.length)
            .putLong(7) // its number, which the answer repeats
            .putInt(request.length)
            .put(request)
            .array());
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

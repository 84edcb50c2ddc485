// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import io.netty.buffer.ByteBuf;

/**
 * A scanner that follows the frames of Spark's protocol in one direction of a connection and finds
 * unexpected ones. A frame begins with its total length (8 bytes) and its type (1 byte), see {@code
 * org.apache.spark.network.protocol.MessageEncoder}. A request failure continues with the number of
 * the request (8 bytes) and the length of a text (4 bytes), for which Spark 4.1 and earlier
 * allocate memory unchecked.
 */
final class FrameScan {
  private static final int STRANGER_MAX_BYTES = 64 << 10;
  private static final int TRUSTED_MAX_BYTES = 4 << 20;

  private static final int HEADER_BYTES = Long.BYTES + 1;
  private static final int MIN_BYTES = HEADER_BYTES + Integer.BYTES;
  private static final int RPC_MIN_BYTES = MIN_BYTES + Long.BYTES;
  private static final int RPC_REQUEST = 3;
  private static final int RPC_RESPONSE = 4;
  private static final int RPC_FAILURE = 5;
  private static final int ONE_WAY = 9;

  private final boolean isClient;
  private long lengthBytes;
  private long textBytes;
  private int headerBytes; // read of the current frame, without the request number
  private long passing; // left in the current frame, not inspected

  /** The reason for refusing a frame, in the form of {@link RefusalLog#report}. */
  record Trouble(String cause, String detail) {}

  /**
   * @param isClient whether this side opened the connection
   */
  FrameScan(boolean isClient) {
    this.isClient = isClient;
  }

  /**
   * Checks the next bytes without consuming them; returns null if all frames are expected.
   *
   * @param trusted whether the other side has proved a token
   */
  Trouble check(ByteBuf bytes, boolean trusted) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end) {
      if (passing > 0) {
        int passed = (int) Math.min(passing, end - at);
        passing -= passed;
        at += passed;
        continue;
      }
      Trouble trouble = checkHeader(bytes.getByte(at++), trusted);
      if (trouble != null) {
        return trouble;
      }
    }
    return null;
  }

  static boolean isFailure(ByteBuf frame) {
    return frame.readableBytes() >= RPC_MIN_BYTES
        && frame.getByte(frame.readerIndex() + Long.BYTES) == RPC_FAILURE;
  }

  private Trouble checkHeader(byte next, boolean trusted) {
    headerBytes++;
    if (headerBytes <= Long.BYTES) {
      lengthBytes = (lengthBytes << Byte.SIZE) | (next & 0xFF);
      return headerBytes == Long.BYTES ? checkLength(MIN_BYTES, trusted) : null;
    }
    if (headerBytes == HEADER_BYTES) {
      return checkType(next, trusted);
    }
    textBytes = (textBytes << Byte.SIZE) | (next & 0xFF);
    return headerBytes == MIN_BYTES ? checkText() : null;
  }

  /** Checks the length before the type is known, as Spark's decoder does. */
  private Trouble checkLength(int minBytes, boolean trusted) {
    int maxBytes = trusted ? TRUSTED_MAX_BYTES : STRANGER_MAX_BYTES;
    if (lengthBytes >= minBytes && lengthBytes <= maxBytes) {
      return null;
    }
    return new Trouble(
        "a frame of an unexpected length" + when(trusted),
        "%,d bytes, outside [%d, %,d]".formatted(lengthBytes, minBytes, maxBytes));
  }

  private Trouble checkType(byte type, boolean trusted) {
    boolean rpc = type == RPC_REQUEST || type == RPC_RESPONSE || type == RPC_FAILURE;
    boolean expected =
        trusted ? rpc || type == ONE_WAY : type == RPC_REQUEST ? !isClient : isClient && rpc;
    if (!expected) {
      return new Trouble("a frame of an unexpected type" + when(trusted), "type " + type);
    }
    Trouble trouble = checkLength(rpc ? RPC_MIN_BYTES : MIN_BYTES, trusted);
    if (trouble == null && type == RPC_FAILURE) {
      passing = Long.BYTES;
    } else if (trouble == null) {
      endHeader(HEADER_BYTES);
    }
    return trouble;
  }

  private static String when(boolean trusted) {
    return trusted ? "" : " before the handshake";
  }

  private Trouble checkText() {
    if (textBytes != lengthBytes - RPC_MIN_BYTES) {
      return new Trouble(
          "a text that does not fit its frame",
          "%,d bytes in a frame of %,d".formatted(textBytes, lengthBytes));
    }
    endHeader(RPC_MIN_BYTES);
    return null;
  }

  private void endHeader(int bytes) {
    passing = lengthBytes - bytes;
    headerBytes = 0;
    lengthBytes = 0;
    textBytes = 0;
  }
}

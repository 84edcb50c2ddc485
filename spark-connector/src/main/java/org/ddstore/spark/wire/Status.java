package org.ddstore.spark.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The first byte of every reply. */
final class Status {
  /** What was asked for follows. */
  static final byte OK = 0;

  /** The rows are being changed: ask again. */
  static final byte CHANGING = 1;

  /** The process has no such store or segment, or no more. */
  static final byte GONE = 2;

  /** The process is another one than the address means. */
  static final byte OTHER_PROCESS = 3;

  /** The process is about to connect by itself: use that connection. */
  static final byte DUPLICATE = 4;

  /** The request is not understood or not allowed. */
  static final byte REFUSED = 5;

  /** What was asked for has failed; why follows, in UTF-8. */
  static final byte FAILED = 6;

  private Status() {}

  /** The reply {@link #FAILED}. */
  static ByteBuffer failed(String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put(FAILED).put(text).flip();
  }

  /** Why something has failed, as the rest of a reply says. */
  static String reason(ByteBuffer rest) {
    return StandardCharsets.UTF_8.decode(rest).toString();
  }
}

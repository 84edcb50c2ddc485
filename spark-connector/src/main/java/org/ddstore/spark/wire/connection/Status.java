// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Status codes, the first byte of every reply. */
public final class Status {
  /** The result follows. */
  public static final byte OK = 0;

  /** The rows are being changed: retry. */
  public static final byte CHANGING = 1;

  /** The process does not have the store or segment, or has closed it. */
  public static final byte GONE = 2;

  /** The process is not the one of the address. */
  public static final byte OTHER_PROCESS = 3;

  /** The process is already connecting to the client: use that connection. */
  public static final byte DUPLICATE = 4;

  /** The request is malformed or not allowed. */
  public static final byte REFUSED = 5;

  /** The request has failed; the reason follows in UTF-8. */
  public static final byte FAILED = 6;

  /** The read key was valid until a time that is over. */
  public static final byte EXPIRED = 7;

  /** The grant of the read key was revoked. */
  public static final byte REVOKED = 8;

  private Status() {}

  public static ByteBuffer failed(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put(FAILED).put(text).flip();
  }

  /** Returns a reply {@link #FAILED} whose reason follows its size as an int32. */
  public static ByteBuffer failedWithSize(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(1 + Integer.BYTES + text.length);
    return out.put(FAILED).putInt(text.length).put(text).flip();
  }

  public static String reason(ByteBuffer rest) {
    return StandardCharsets.UTF_8.decode(rest).toString();
  }
}

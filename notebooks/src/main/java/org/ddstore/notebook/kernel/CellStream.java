// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.kernel;

import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * The standard output or error of a cell. Collects the output until {@link #send()}, because front
 * ends refuse thousands of messages per second. Thread-safe.
 */
final class CellStream extends OutputStream {
  private static final int SEND_BYTES = 8192;

  private final Consumer<String> target;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);

  /** Bytes that were not sent, in front of the position. */
  private final ByteBuffer bytes = ByteBuffer.allocate(SEND_BYTES);

  CellStream(Consumer<String> target) {
    this.target = target;
  }

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] source, int offset, int length) {
    int at = offset;
    while (at < offset + length) {
      int part = Math.min(bytes.remaining(), offset + length - at);
      bytes.put(source, at, part);
      at += part;
      if (!bytes.hasRemaining()) {
        send();
      }
    }
  }

  /** Sends the collected output, except the first bytes of an incomplete character. */
  synchronized void send() {
    bytes.flip();
    CharBuffer text = CharBuffer.allocate(bytes.remaining() + 1);
    decoder.decode(bytes, text, false);
    bytes.compact();
    if (text.flip().hasRemaining()) {
      target.accept(text.toString());
    }
  }
}

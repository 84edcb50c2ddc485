// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Text truncated to a number of UTF-8 bytes, and a digest of the full text. */
final class BoundedText {
  private static final byte[] CUT = "...".getBytes(StandardCharsets.UTF_8);
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private BoundedText() {}

  /** Returns at most {@code maxBytes} bytes of UTF-8; a truncated text ends in three dots. */
  static byte[] encode(String text, int maxBytes) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= maxBytes) {
      return bytes;
    }
    int end = maxBytes - CUT.length;
    while (end > 0 && (bytes[end] & 0xC0) == 0x80) { // not in the middle of a character
      end--;
    }
    byte[] cut = Arrays.copyOf(bytes, end + CUT.length);
    System.arraycopy(CUT, 0, cut, end, CUT.length);
    return cut;
  }

  /** Returns the FNV-1a digest of the UTF-16 units, which is the same in every JVM. */
  static long digest(String text) {
    long hash = FNV_OFFSET;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ (text.charAt(i) & 0xFF)) * FNV_PRIME;
      hash = (hash ^ (text.charAt(i) >>> Byte.SIZE)) * FNV_PRIME;
    }
    return hash;
  }
}

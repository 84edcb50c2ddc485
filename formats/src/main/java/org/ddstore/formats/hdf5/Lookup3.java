// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The checksum of metadata: the hash lookup3 of Bob Jenkins with the initial value 0. */
final class Lookup3 {
  private static final int BLOCK_BYTES = 12;

  private int a;
  private int b;
  private int c;

  private Lookup3(int length) {
    a = 0xDEADBEEF + length;
    b = a;
    c = a;
  }

  /** {@return the checksum of bytes} */
  static int of(byte[] bytes, int length) {
    if (length == 0) {
      return 0xDEADBEEF;
    }
    Lookup3 hash = new Lookup3(length);
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    for (; length - at > BLOCK_BYTES; at += BLOCK_BYTES) {
      hash.add(words, at);
      hash.mix();
    }
    byte[] last = new byte[BLOCK_BYTES];
    System.arraycopy(bytes, at, last, 0, length - at);
    hash.add(ByteBuffer.wrap(last).order(ByteOrder.LITTLE_ENDIAN), 0);
    hash.finish();
    return hash.c;
  }

  private void add(ByteBuffer words, int at) {
    a += words.getInt(at);
    b += words.getInt(at + 4);
    c += words.getInt(at + 8);
  }

  private void mix() {
    a = (a - c) ^ Integer.rotateLeft(c, 4);
    c += b;
    b = (b - a) ^ Integer.rotateLeft(a, 6);
    a += c;
    c = (c - b) ^ Integer.rotateLeft(b, 8);
    b += a;
    a = (a - c) ^ Integer.rotateLeft(c, 16);
    c += b;
    b = (b - a) ^ Integer.rotateLeft(a, 19);
    a += c;
    c = (c - b) ^ Integer.rotateLeft(b, 4);
    b += a;
  }

  private void finish() {
    c = (c ^ b) - Integer.rotateLeft(b, 14);
    a = (a ^ c) - Integer.rotateLeft(c, 11);
    b = (b ^ a) - Integer.rotateLeft(a, 25);
    c = (c ^ b) - Integer.rotateLeft(b, 16);
    a = (a ^ c) - Integer.rotateLeft(c, 4);
    b = (b ^ a) - Integer.rotateLeft(a, 14);
    c = (c ^ b) - Integer.rotateLeft(b, 24);
  }
}

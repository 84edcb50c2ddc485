// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.nio.ByteBuffer;

/** A writer of zeros over reused memory. */
final class Zeros {
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(4096).asReadOnlyBuffer();

  private Zeros() {}

  static void fill(ByteBuffer target, int at, int bytes) {
    for (int done = 0; done < bytes; ) {
      int count = Math.min(bytes - done, ZEROS.capacity());
      target.put(at + done, ZEROS, 0, count);
      done += count;
    }
  }
}

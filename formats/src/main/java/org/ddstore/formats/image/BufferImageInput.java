// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.nio.ByteBuffer;
import javax.imageio.stream.ImageInputStreamImpl;

/** The bytes of a buffer for a reader of images, which would copy those of a stream to blocks. */
final class BufferImageInput extends ImageInputStreamImpl {
  private final ByteBuffer bytes;

  BufferImageInput(ByteBuffer bytes) {
    this.bytes = bytes.slice();
  }

  private int left() {
    return (int) Math.max(0, bytes.limit() - streamPos);
  }

  @Override
  public int read() {
    bitOffset = 0;
    return left() == 0 ? -1 : bytes.get((int) streamPos++) & 0xFF;
  }

  @Override
  public int read(byte[] to, int offset, int count) {
    bitOffset = 0;
    if (count == 0) {
      return 0;
    }
    int taken = Math.min(count, left());
    if (taken == 0) {
      return -1;
    }
    bytes.get((int) streamPos, to, offset, taken);
    streamPos += taken;
    return taken;
  }

  @Override
  public long length() {
    return bytes.limit();
  }
}

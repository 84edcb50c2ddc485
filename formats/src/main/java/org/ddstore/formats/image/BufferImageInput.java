// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.nio.ByteBuffer;
import javax.imageio.stream.ImageInputStreamImpl;

/**
 * The bytes of two buffers, one after the other, for a reader of images, which would copy those of
 * a stream to blocks.
 */
final class BufferImageInput extends ImageInputStreamImpl {
  private final ByteBuffer head;
  private final ByteBuffer body;

  BufferImageInput(ByteBuffer head, ByteBuffer body) {
    this.head = head.slice();
    this.body = body.slice();
  }

  @Override
  public int read() {
    bitOffset = 0;
    if (streamPos >= length()) {
      return -1;
    }
    int at = (int) streamPos++;
    return (at < head.limit() ? head.get(at) : body.get(at - head.limit())) & 0xFF;
  }

  @Override
  public int read(byte[] to, int offset, int count) {
    bitOffset = 0;
    if (count == 0) {
      return 0;
    }
    if (streamPos >= length()) {
      return -1;
    }
    int at = (int) streamPos;
    ByteBuffer from = at < head.limit() ? head : body;
    int start = at < head.limit() ? at : at - head.limit();
    int taken = Math.min(count, from.limit() - start);
    from.get(start, to, offset, taken);
    streamPos += taken;
    return taken;
  }

  @Override
  public long length() {
    return (long) head.limit() + body.limit();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import org.ddstore.formats.InputFile;

/** An open file as a channel, for libraries that read from one. Owns the open file. */
public final class ContentChannel implements SeekableByteChannel {
  private final InputFile.Content content;
  private final long size;
  private long position;
  private boolean open = true;
  private IOException failure;

  public ContentChannel(InputFile.Content content, long size) {
    this.content = content;
    this.size = size;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    if (!open) {
      throw new ClosedChannelException();
    }
    if (position >= size) {
      return -1;
    }
    int count = (int) Math.min(to.remaining(), size - position);
    int limit = to.limit();
    to.limit(to.position() + count);
    try {
      content.read(position, to);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
    to.limit(limit);
    position += count;
    return count;
  }

  /** {@return the last failure of the file system; null if none} */
  public IOException failure() {
    return failure;
  }

  @Override
  public int write(ByteBuffer from) {
    throw new NonWritableChannelException();
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public SeekableByteChannel position(long next) {
    position = next;
    return this;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public SeekableByteChannel truncate(long length) {
    throw new NonWritableChannelException();
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() throws IOException {
    if (open) {
      open = false;
      content.close();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import org.ddstore.formats.InputFile;

/** An open file as a channel, for the library that reads directories of archives. */
final class ContentChannel implements SeekableByteChannel {
  private final InputFile.Content content;
  private final long size;
  private long position;
  private boolean open = true;

  /**
   * Creates a channel, whose {@link #close()} closes the file.
   *
   * @param size number of bytes of the file
   */
  ContentChannel(InputFile.Content content, long size) {
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
    } finally {
      to.limit(limit);
    }
    position += count;
    return count;
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
  public SeekableByteChannel position(long to) {
    position = to;
    return this;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public SeekableByteChannel truncate(long to) {
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

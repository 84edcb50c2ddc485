// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A file that is durable when it is closed. After a failed write, {@link #close} throws nothing:
 * HDFS throws the exception of the write again, which try-with-resources cannot suppress in itself.
 */
final class NewFile extends OutputStream {
  private final FSDataOutputStream stream;
  private IOException failure;
  private boolean closed;

  NewFile(FSDataOutputStream stream) {
    this.stream = stream;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    try {
      stream.write(bytes, from, count);
    } catch (IOException e) {
      failure = e;
      throw e;
    } catch (FSError e) { // an IOException of local files
      failure = exceptionOf(e);
      throw failure;
    }
  }

  /** Returns the exception that an error of the local file system passes on. */
  static IOException exceptionOf(FSError e) {
    return e.getCause() instanceof IOException cause ? cause : new IOException(e);
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (failure != null) {
      closeAfter(failure);
      return;
    }
    try {
      if (stream.hasCapability(StreamCapabilities.HSYNC)) {
        stream.hsync();
      }
    } catch (IOException e) {
      closeAfter(e);
      throw e;
    } catch (FSError e) {
      IOException cause = exceptionOf(e);
      closeAfter(cause);
      throw cause;
    }
    try {
      stream.close();
    } catch (FSError e) {
      throw exceptionOf(e);
    }
  }

  /** Closes the stream after an exception, which it may throw again. */
  private void closeAfter(IOException first) {
    if (first instanceof InterruptedIOException) {
      Thread.currentThread().interrupt(); // else HDFS waits once more for a node that hangs
    }
    try {
      stream.close();
    } catch (IOException | FSError e) {
      if (e != first && e.getCause() != first) {
        first.addSuppressed(e);
      }
    }
  }

  @Override
  public String toString() {
    return stream.toString();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StreamCorruptedException;
import org.apache.hadoop.fs.ChecksumException;
import org.apache.hadoop.fs.FSError;

/** The content of a file, which the file system verifies by checksums of its own. */
final class CheckedFile extends FilterInputStream {
  CheckedFile(InputStream file) {
    super(file);
  }

  @Override
  public int read() throws IOException {
    try {
      return in.read();
    } catch (ChecksumException e) {
      throw corrupted(e);
    } catch (FSError e) {
      throw NewFile.exceptionOf(e);
    }
  }

  @Override
  public int read(byte[] bytes, int from, int count) throws IOException {
    try {
      return in.read(bytes, from, count);
    } catch (ChecksumException e) {
      throw corrupted(e);
    } catch (FSError e) {
      throw NewFile.exceptionOf(e);
    }
  }

  private static StreamCorruptedException corrupted(ChecksumException cause) {
    StreamCorruptedException corrupted = new StreamCorruptedException(cause.getMessage());
    corrupted.initCause(cause);
    return corrupted;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.function.Predicate;

/** A local storage whose created files fail if a predicate on their path says so. */
final class FaultyStorage extends ForwardingStorage {
  private volatile Predicate<String> faulty = path -> false;

  FaultyStorage(Path directory) {
    super(CheckpointStorage.local(directory));
  }

  void fail(Predicate<String> paths) {
    faulty = paths;
  }

  @Override
  public OutputStream create(String file) throws IOException {
    return new FilterOutputStream(super.create(file)) {
      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        if (faulty.test(file)) {
          out.write(bytes, from, count / 2);
          throw new IOException("No space left on device");
        }
        out.write(bytes, from, count);
      }
    };
  }

  @Override
  public void publish(String file, byte[] content) throws IOException {
    if (faulty.test(file)) {
      throw new IOException("No space left on device");
    }
    super.publish(file, content);
  }
}

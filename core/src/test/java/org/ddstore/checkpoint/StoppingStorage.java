// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A local storage that runs a function at one of its steps and goes no further: before and behind a
 * creation, in the middle of a file, before and behind a deletion. Like HDFS, it publishes by a
 * file that others see while it is written.
 */
final class StoppingStorage extends ForwardingStorage {
  private final AtomicInteger stepsLeft;
  private final Runnable atStop;

  /**
   * @param steps number of steps before the stop
   */
  StoppingStorage(Path directory, int steps, Runnable atStop) {
    super(CheckpointStorage.local(directory));
    this.stepsLeft = new AtomicInteger(steps);
    this.atStop = atStop;
  }

  private void step() {
    if (stepsLeft.getAndDecrement() <= 0) {
      atStop.run();
    }
  }

  @Override
  public OutputStream create(String file) throws IOException {
    step();
    return new FilterOutputStream(super.create(file)) {
      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        step();
        out.write(bytes, from, count / 2);
        step();
        out.write(bytes, from + count / 2, count - count / 2);
        step();
      }
    };
  }

  @Override
  public void publish(String file, byte[] content) throws IOException {
    try (OutputStream out = create(file)) {
      out.write(content, 0, content.length);
    }
    step();
  }

  @Override
  public void delete(String path) throws IOException {
    step();
    super.delete(path);
    step();
  }
}

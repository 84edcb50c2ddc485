// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;

/** The times of reads, per row. */
final class ReadTimes {
  private final int batch;
  private final DescriptiveStatistics micros = new DescriptiveStatistics();
  private final DescriptiveStatistics callNanos = new DescriptiveStatistics();
  private long processorNanos;
  private long rows;

  /** A thread of a round. */
  abstract static class Worker implements Callable<Void> {
    final long[] nanos; // of each batch
    long startNanos;
    long endNanos;

    Worker(int batches) {
      this.nanos = new long[batches];
    }

    /** Reads a batch of the round. */
    abstract void read(int number) throws IOException;

    @Override
    public final Void call() throws IOException {
      startNanos = System.nanoTime();
      for (int b = 0; b < nanos.length; b++) {
        long start = System.nanoTime();
        read(b);
        nanos[b] = System.nanoTime() - start;
      }
      endNanos = System.nanoTime();
      return null;
    }
  }

  /** The processor time of all processes that take part. */
  interface Clock {
    long nanos() throws IOException;
  }

  /**
   * @param batch number of rows in a batch
   */
  ReadTimes(int batch) {
    this.batch = batch;
  }

  /** Records the time of a round of one thread, in microseconds per row. */
  void add(double microsPerRow) {
    micros.addValue(microsPerRow);
    callNanos.addValue(microsPerRow * 1e3 * batch);
  }

  /**
   * Runs a round.
   *
   * @param count whether its times are recorded
   * @return wall time per row in microseconds
   */
  double round(ExecutorService pool, List<? extends Worker> workers, Clock clock, boolean count)
      throws InterruptedException, ExecutionException, IOException {
    long before = clock.nanos();
    for (Future<Void> done : pool.invokeAll(workers)) {
      done.get();
    }
    long after = clock.nanos();
    // From the first start to the last end, which excludes the wake-up time of threads.
    long start = workers.stream().mapToLong(worker -> worker.startNanos).min().orElseThrow();
    long end = workers.stream().mapToLong(worker -> worker.endNanos).max().orElseThrow();
    long read = (long) workers.size() * workers.get(0).nanos.length * batch;
    double perRow = (end - start) / 1e3 / read;
    if (count) {
      micros.addValue(perRow);
      processorNanos += after - before;
      rows += read;
      for (Worker worker : workers) {
        for (long nanos : worker.nanos) {
          callNanos.addValue((double) nanos);
        }
      }
    }
    return perRow;
  }

  /** Returns the wall time per row of each round, in microseconds. */
  double[] rounds() {
    return micros.getValues();
  }

  /** Returns the wall time per row of the median round, in microseconds. */
  double microsPerRow() {
    return micros.getPercentile(50);
  }

  /** Returns the 99th percentile of the duration of a batch, in microseconds per row. */
  double p99MicrosPerRow() {
    return callNanos.getPercentile(99) / 1e3 / batch;
  }

  /** Returns the processor time of all processes, in microseconds per row. */
  double processorMicrosPerRow() {
    return processorNanos / 1e3 / rows;
  }
}

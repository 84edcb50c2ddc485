// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;

/**
 * The baseline of {@link ReadBench}: one thread copies random rows one by one, from the memory that
 * the batches are read from, into batches of the same layout. A plain loop around C's {@code
 * memcpy}, or around a Java copy if the native library is unavailable. Turns of the {@link
 * StreamCopy} follow each round, so that both run under the same conditions as the reads.
 */
final class CopyLoop implements AutoCloseable {
  private static final int HOT_COPIES = 1000;

  private final StreamCopy stream;
  private final List<Segment> segments;
  private final long rowsEach;
  private final int rowBytes;
  private final int batch;
  private final int inRound;
  private final int slots;
  private int first;
  private final OffHeapBuffer targets;
  private final SplittableRandom random = new SplittableRandom(1);
  private final Round round;
  private final DescriptiveStatistics micros = new DescriptiveStatistics();
  private boolean isCounting;
  private long loopNanos;
  private long streamNanos;

  private CopyLoop(
      StreamCopy stream,
      List<Segment> segments,
      long rowsEach,
      int rowBytes,
      int batch,
      int inRound,
      int slots) {
    this.stream = stream;
    this.segments = segments;
    this.rowsEach = rowsEach;
    this.rowBytes = rowBytes;
    this.batch = batch;
    this.inRound = inRound;
    this.slots = slots;
    this.targets = OffHeapBuffer.allocate((long) slots * batch * rowBytes);
    this.round = NativeLibrary.isLoaded() ? new InC() : new InJava();
    stream.begin();
  }

  /**
   * @param stream owned by the caller; forgets its turns
   * @param segments segments of fixed records of {@code rowBytes}, all of one size; held by the
   *     caller
   * @param inRound number of batches that one round fills
   * @param held number of batches, filled in turn; a multiple of {@code inRound}
   */
  static CopyLoop ofRandomRows(
      StreamCopy stream, List<Segment> segments, int rowBytes, int batch, int inRound, int held) {
    return new CopyLoop(stream, segments, segments.get(0).rows(), rowBytes, batch, inRound, held);
  }

  /** Returns a loop that copies the first row of a segment into the same memory each time. */
  static CopyLoop ofFirstRow(StreamCopy stream, Segment segment, int rowBytes) {
    return new CopyLoop(stream, List.of(segment), 1, rowBytes, 1, HOT_COPIES, 1);
  }

  static String description() {
    return NativeLibrary.isLoaded()
        ? "a plain loop of memcpy in C"
        : "a plain loop in Java (native library: %s)".formatted(NativeLibrary.description());
  }

  /**
   * Fills the batches of a round with new random rows, then runs turns of the stream until both
   * have taken about equal time.
   *
   * @param counts whether the times are recorded; once true, true for all later rounds
   */
  void round(boolean counts) {
    if (counts && !isCounting) {
      isCounting = true;
      stream.begin();
      loopNanos = 0;
      streamNanos = stream.turn();
    }
    long nanos = round.run();
    first = (first + inRound) % slots;
    if (counts) {
      micros.addValue(nanos / 1e3 / inRound / batch);
    }
    loopNanos += nanos;
    while (streamNanos < loopNanos) {
      streamNanos += stream.turn();
    }
  }

  /** Returns the rate of the stream's median turn, in 10^9 bytes per second. */
  double streamGbPerSecond() {
    return stream.gbPerSecond();
  }

  /** Returns the wall time per row of each round, in microseconds. */
  double[] rounds() {
    return micros.getValues();
  }

  /** Returns the wall time per row of the median round, in microseconds. */
  double microsPerRow() {
    return micros.getPercentile(50);
  }

  /** One round: fills its batches with new random rows and returns the nanoseconds of the copy. */
  private interface Round {
    long run();
  }

  private Segment draw() {
    return segments.get(segments.size() == 1 ? 0 : random.nextInt(segments.size()));
  }

  private final class InC implements Round {
    private final long[] rows = new long[inRound * batch];
    private final long[] starts = new long[inRound];

    @Override
    public long run() {
      for (int i = 0; i < rows.length; i++) {
        Segment segment = draw();
        rows[i] = segment.address(random.nextLong(rowsEach));
      }
      for (int b = 0; b < inRound; b++) {
        starts[b] = targets.address() + (long) ((first + b) % slots) * batch * rowBytes;
      }
      return CopyLimit.rowsNanos(rows, starts, batch, rowBytes);
    }
  }

  private final class InJava implements Round {
    private final ByteBuffer[] chunk = new ByteBuffer[inRound * batch];
    private final int[] position = new int[inRound * batch];

    @Override
    public long run() {
      for (int i = 0; i < chunk.length; i++) {
        Segment segment = draw();
        long location = segment.place(random.nextLong(rowsEach));
        chunk[i] = segment.chunk(Segment.chunkOf(location));
        position[i] = Segment.positionOf(location);
      }
      ByteBuffer to = targets.buffer();
      long start = System.nanoTime();
      for (int i = 0; i < chunk.length; i++) {
        to.put((first * batch + i) % (slots * batch) * rowBytes, chunk[i], position[i], rowBytes);
      }
      return System.nanoTime() - start;
    }
  }

  @Override
  public void close() {
    targets.close();
  }
}

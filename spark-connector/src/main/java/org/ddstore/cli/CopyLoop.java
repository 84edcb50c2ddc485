package org.ddstore.cli;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;
import org.ddstore.nativeio.CopyLimit;
import org.ddstore.nativeio.NativeLibrary;

/**
 * The yardstick of {@link ReadBench}: one thread copies random rows of the memory that the batches
 * come from, one after the other, into batches like theirs. A plain loop of C's {@code memcpy}, or
 * of Java where the native library is not there.
 */
final class CopyLoop implements AutoCloseable {
  private final List<Segment> segments;
  private final int rowBytes;
  private final int batch;
  private final int held;
  private final OffHeapBuffer targets;

  /**
   * @param segments of fixed records of {@code rowBytes}, held by the caller
   * @param held batches, filled in turns
   */
  CopyLoop(List<Segment> segments, int rowBytes, int batch, int held) {
    this.segments = segments;
    this.rowBytes = rowBytes;
    this.batch = batch;
    this.held = held;
    this.targets = OffHeapBuffer.allocate((long) held * batch * rowBytes);
  }

  /** What copies, for people. */
  static String description() {
    return NativeLibrary.isLoaded()
        ? "a plain loop of memcpy in C"
        : "a plain loop in Java (native library: %s)".formatted(NativeLibrary.description());
  }

  /** Wall time of a row. */
  double microsPerRow(double seconds) {
    SplittableRandom random = new SplittableRandom(1);
    Round round = NativeLibrary.isLoaded() ? new InC() : new InJava();
    round.run(random); // the first one touches the pages of the targets
    long nanos = 0;
    long copied = 0;
    while (nanos < seconds * TimeUnit.SECONDS.toNanos(1)) {
      nanos += round.run(random);
      copied += (long) held * batch;
    }
    return nanos / 1e3 / copied;
  }

  /** Fills each batch once with new random rows, and returns how long the copying took. */
  private interface Round {
    long run(SplittableRandom random);
  }

  private Segment draw(SplittableRandom random) {
    return segments.get(segments.size() == 1 ? 0 : random.nextInt(segments.size()));
  }

  private final class InC implements Round {
    private final long[] rows = new long[held * batch];
    private final long[] starts = new long[held];

    InC() {
      for (int b = 0; b < held; b++) {
        starts[b] = targets.address() + (long) b * batch * rowBytes;
      }
    }

    @Override
    public long run(SplittableRandom random) {
      for (int i = 0; i < rows.length; i++) {
        Segment segment = draw(random);
        rows[i] = segment.address(random.nextLong(segment.rows()));
      }
      return CopyLimit.rowsNanos(rows, starts, batch, rowBytes);
    }
  }

  private final class InJava implements Round {
    private final ByteBuffer[] chunk = new ByteBuffer[held * batch];
    private final int[] position = new int[held * batch];

    @Override
    public long run(SplittableRandom random) {
      for (int i = 0; i < chunk.length; i++) {
        Segment segment = draw(random);
        long place = segment.place(random.nextLong(segment.rows()));
        chunk[i] = segment.chunk(Segment.chunkOf(place));
        position[i] = Segment.positionOf(place);
      }
      ByteBuffer to = targets.buffer();
      long start = System.nanoTime();
      for (int i = 0; i < chunk.length; i++) {
        to.put(i * rowBytes, chunk[i], position[i], rowBytes);
      }
      return System.nanoTime() - start;
    }
  }

  @Override
  public void close() {
    targets.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;

/**
 * The samples of a workload: their sizes, and bytes that tell the sample and the place in it, which
 * {@code bench_dlio.py} knows, too.
 */
final class DlioSamples implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long SEED = 10;
  private static final int MAX_DEVIATIONS = 2;

  private final int[] lengths;

  private DlioSamples(int... lengths) {
    this.lengths = lengths;
  }

  /**
   * Draws the sizes as DLIO does: the product of two normally distributed sides, here at most two
   * standard deviations from the mean.
   */
  static DlioSamples of(DlioWorkload workload, int count) {
    Random random = new Random(SEED);
    double side = Math.sqrt(workload.sampleBytes());
    double deviation = workload.deviationBytes() / 2.0 / side;
    int longest = longest(workload);
    int shortest = 2 * workload.sampleBytes() - longest;
    int[] lengths = new int[count];
    for (int i = 0; i < count; i++) {
      double product =
          (side + deviation * random.nextGaussian()) * (side + deviation * random.nextGaussian());
      lengths[i] = (int) Math.max(shortest, Math.min(Math.round(product), longest));
    }
    return new DlioSamples(lengths);
  }

  int count() {
    return lengths.length;
  }

  long bytes() {
    return Arrays.stream(lengths).asLongStream().sum();
  }

  /** Returns the largest size that a sample of a workload can have. */
  static int longest(DlioWorkload workload) {
    return workload.sampleBytes() + MAX_DEVIATIONS * workload.deviationBytes();
  }

  void writeLengths(Path file) throws IOException {
    Files.writeString(
        file, Arrays.stream(lengths).mapToObj(Integer::toString).collect(Collectors.joining("\n")));
  }

  /** Returns the spec of a store with one row per sample, in the field {@code x}. */
  StoreSpec spec(SparkSession session, int ranks) {
    UDF1<Long, byte[]> sample = this::sample;
    Column bytes = functions.udf(sample, DataTypes.BinaryType).apply(functions.col("id"));
    return DDStores.from(session.range(0, count(), 1, ranks).select(bytes.as("x")).toDF())
        .ranks(ranks);
  }

  /** Returns little-endian words that count from the number of the sample, cut to its length. */
  private byte[] sample(long number) {
    byte[] bytes = new byte[lengths[(int) number]];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    LongBuffer words = buffer.asLongBuffer();
    long word = (number + 1) << 32;
    while (words.hasRemaining()) {
      words.put(word++);
    }
    for (int i = bytes.length & -Long.BYTES; i < bytes.length; i++) {
      bytes[i] = (byte) (word >>> (8 * (i % Long.BYTES)));
    }
    return bytes;
  }
}

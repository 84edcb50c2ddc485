// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The durations of some reads, counted in buckets of powers of two.
 *
 * @param counts number of reads by bucket: bucket 0 counts reads of at most 1,024 ns, bucket i
 *     those of at most {@code 1024 << i} ns and more than half of that, and the last bucket all
 *     longer ones; {@value #BUCKETS} buckets
 */
public record LatencyHistogram(List<Long> counts) implements Serializable {
  /** Number of buckets; the bound of the last but one is about 4.3 s. */
  public static final int BUCKETS = 24;

  private static final long serialVersionUID = 1L;
  private static final long FIRST_BOUND_NANOS = 1024;

  /**
   * Copies the counts.
   *
   * @param counts number of reads by bucket
   * @throws IllegalArgumentException if the number of buckets is not {@value #BUCKETS}
   */
  public LatencyHistogram {
    counts = List.copyOf(counts);
    if (counts.size() != BUCKETS) {
      throw new IllegalArgumentException(
          "%d buckets: must be %d".formatted(counts.size(), BUCKETS));
    }
  }

  /** {@return a histogram without reads} */
  public static LatencyHistogram none() {
    return new LatencyHistogram(Collections.nCopies(BUCKETS, 0L));
  }

  /**
   * {@return the bucket of a duration}
   *
   * @param nanos duration in nanoseconds, at least 0
   */
  public static int bucket(long nanos) {
    int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, nanos - 1) / FIRST_BOUND_NANOS);
    return Math.min(bits, BUCKETS - 1);
  }

  /**
   * {@return the longest duration of a bucket in nanoseconds} {@link Long#MAX_VALUE} for the last.
   *
   * @param bucket index of the bucket, in [0, {@value #BUCKETS})
   */
  public static long boundNanos(int bucket) {
    Objects.checkIndex(bucket, BUCKETS);
    return bucket == BUCKETS - 1 ? Long.MAX_VALUE : FIRST_BOUND_NANOS << bucket;
  }

  /** {@return the number of reads in all buckets} */
  public long count() {
    return counts.stream().mapToLong(Long::longValue).sum();
  }

  /**
   * {@return an upper bound of a quantile in nanoseconds: the bound of its bucket} 0 without reads.
   *
   * @param q the quantile, in [0, 1]
   */
  public long quantileNanos(double q) {
    if (!(q >= 0 && q <= 1)) {
      throw new IllegalArgumentException("quantile %s outside [0, 1]".formatted(q));
    }
    long target = Math.max(1, (long) Math.ceil(q * count()));
    long seen = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      seen += counts.get(bucket);
      if (seen >= target) {
        return boundNanos(bucket);
      }
    }
    return 0;
  }

  /**
   * {@return the sum of both histograms}
   *
   * @param other reads to add
   */
  public LatencyHistogram plus(LatencyHistogram other) {
    Objects.requireNonNull(other, "other is null");
    List<Long> sums = new ArrayList<>(BUCKETS);
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      sums.add(counts.get(bucket) + other.counts.get(bucket));
    }
    return new LatencyHistogram(sums);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.ddstore.types.Plural;

/**
 * The result of a check that each sample of an epoch came exactly once, with the exceptions.
 * Samples that the batches leave out by plan count as received, and are reported.
 *
 * @param samples number of samples of the data set
 * @param delivered samples delivered to the consumers of all ranks, without padding
 * @param dropped samples left out by plan
 * @param padded samples of weight 0
 * @param wrong buckets in which samples were lost or repeated
 */
public record CoverageReceipt(
    long samples, long delivered, long dropped, long padded, List<Bucket> wrong) {
  private static final int MOST_NAMED = 8;

  /**
   * Copies the list.
   *
   * @param samples number of samples of the data set
   * @param delivered samples delivered to the consumers of all ranks, without padding
   * @param dropped samples left out by plan
   * @param padded samples of weight 0
   * @param wrong buckets in which samples were lost or repeated
   */
  public CoverageReceipt {
    wrong = List.copyOf(Objects.requireNonNull(wrong, "wrong is null"));
  }

  /**
   * A range of samples [first, end) of which some were lost or repeated.
   *
   * @param first first sample
   * @param end sample after the last
   * @param surplus number of samples that came in excess; below 0 the number missing; 0 if equally
   *     many were lost and repeated
   * @param only the sample that was lost or repeated if it is a single one, otherwise -1
   */
  public record Bucket(long first, long end, long surplus, long only) {
    @Override
    public String toString() {
      if (only >= 0) {
        return "sample %,d %s".formatted(only, surplus < 0 ? "lost" : "repeated");
      }
      String what =
          surplus < 0
              ? "%,d or more lost".formatted(-surplus)
              : surplus > 0
                  ? "%,d or more repeated".formatted(surplus)
                  : "some lost, as many repeated";
      return "[%,d, %,d): %s".formatted(first, end, what);
    }
  }

  /** {@return whether each sample was delivered, or dropped by plan, exactly once} */
  public boolean isExact() {
    return wrong.isEmpty();
  }

  /** {@return the least number of repeated samples; losses in a bucket can hide some} */
  public long repeated() {
    return wrong.stream().mapToLong(bucket -> Math.max(0, bucket.surplus())).sum();
  }

  /** {@return the least number of samples that did not come} */
  public long lost() {
    return wrong.stream().mapToLong(bucket -> Math.max(0, -bucket.surplus())).sum();
  }

  /**
   * Returns a description such as {@code 9 samples, each exactly once; 9 delivered, 0 dropped, 0
   * padded}. {@code each at most once} takes the place of {@code each exactly once} if samples were
   * dropped.
   */
  @Override
  public String toString() {
    String rest = "; %,d delivered, %,d dropped, %,d padded".formatted(delivered, dropped, padded);
    String all = Plural.of(samples, "sample");
    if (isExact()) {
      return all + (dropped == 0 ? ", each exactly once" : ", each at most once") + rest;
    }
    String named =
        wrong.stream().limit(MOST_NAMED).map(Bucket::toString).collect(Collectors.joining(", "));
    String more = wrong.size() > MOST_NAMED ? " and in other buckets" : "";
    return "%s, not each once: %s%s%s".formatted(all, named, more, rest);
  }
}

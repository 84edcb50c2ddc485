package org.ddstore.sampling;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Whether each sample of an epoch came exactly once, and where not. Those that the batches leave
 * out by plan count as come, and are told.
 *
 * @param samples of the data set
 * @param delivered to the consumers of all ranks, without padding
 * @param dropped left out by plan
 * @param padded samples of weight 0
 * @param wrong the buckets in which samples were lost or repeated
 */
public record CoverageReceipt(
    long samples, long delivered, long dropped, long padded, List<Bucket> wrong) {
  private static final int MOST_NAMED = 8;

  /** Fixes the list. */
  public CoverageReceipt {
    wrong = List.copyOf(Objects.requireNonNull(wrong, "wrong is null"));
  }

  /**
   * Samples [first, end) of which some were lost or repeated.
   *
   * @param first the first sample
   * @param end the one after the last
   * @param surplus how many more came than should have; below 0, how many fewer; 0 if as many were
   *     lost as repeated
   * @param only the sample that was lost or repeated if it is one alone, else -1
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

  /** True if each sample was delivered, or dropped by plan, exactly once. */
  public boolean isExact() {
    return wrong.isEmpty();
  }

  /** How many samples came too often, at least: within a bucket losses may hide some. */
  public long repeated() {
    return wrong.stream().mapToLong(bucket -> Math.max(0, bucket.surplus())).sum();
  }

  /** How many samples did not come, at least. */
  public long lost() {
    return wrong.stream().mapToLong(bucket -> Math.max(0, -bucket.surplus())).sum();
  }

  /** As in {@code 9 samples, each exactly once; 8 delivered, 1 dropped, 0 padded}. */
  @Override
  public String toString() {
    String rest = "; %,d delivered, %,d dropped, %,d padded".formatted(delivered, dropped, padded);
    if (isExact()) {
      return "%,d samples, each exactly once%s".formatted(samples, rest);
    }
    String named =
        wrong.stream().limit(MOST_NAMED).map(Bucket::toString).collect(Collectors.joining(", "));
    String more = wrong.size() > MOST_NAMED ? " and in other buckets" : "";
    return "%,d samples, not each once: %s%s%s".formatted(samples, named, more, rest);
  }
}

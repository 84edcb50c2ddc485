// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.ddstore.cli.RankReadings.Speed;
import org.ddstore.types.ReadPath;

/**
 * The results of all ranks of the demo.
 *
 * @param sqlRows number of rows as counted by Spark SQL
 * @param ranks results of each rank, in rank order
 */
record DemoResult(long sqlRows, List<RankReadings> ranks) {
  RankReadings.Summary store() {
    return ranks.get(0).info();
  }

  /** Returns the number of wrong rows, plus the number of missing or surplus rows. */
  long mismatches() {
    return ranks.stream().mapToLong(RankReadings::mismatches).sum()
        + Math.abs(store().rows() - sqlRows);
  }

  int exitCode() {
    return mismatches() == 0 ? 0 : 1;
  }

  long rowsRead() {
    return ranks.stream().mapToLong(RankReadings::rowsRead).sum();
  }

  int executors() {
    return (int) ranks.stream().map(RankReadings::executor).distinct().count();
  }

  /** Returns the time in seconds until the slowest rank held its shard. */
  double loadSeconds() {
    return ranks.stream().mapToLong(RankReadings::loadNanos).max().orElse(0)
        / (double) TimeUnit.SECONDS.toNanos(1);
  }

  long ingestRowsPerSecond() {
    return loadSeconds() == 0 ? 0 : Math.round(store().rows() / loadSeconds());
  }

  double singleMicrosPerRow() {
    return ranks.stream()
        .map(RankReadings::single)
        .reduce(Speed::plus)
        .orElseThrow()
        .microsPerRow();
  }

  double batchMicrosPerRow() {
    return ranks.stream()
        .map(RankReadings::batches)
        .reduce(Speed::plus)
        .orElseThrow()
        .microsPerRow();
  }

  /** Returns the share of the rows read over a path, in [0, 1]. */
  double share(ReadPath path) {
    return share(path, ranks);
  }

  static double share(ReadPath path, List<RankReadings> ranks) {
    long rows = ranks.stream().mapToLong(RankReadings::rowsRead).sum();
    long overPath = ranks.stream().mapToLong(rank -> rank.rowsByPath().get(path.index())).sum();
    return rows == 0 ? 0 : (double) overPath / rows;
  }

  /** Returns the digest of all rows, which is equal on all ranks. */
  String digest() {
    return ranks.get(0).digest();
  }

  /** Returns the demo's own keys of the JSON output. */
  Map<String, Object> summary() {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("ranks", ranks.size());
    summary.put("executors", executors());
    summary.put("rows", store().rows());
    summary.put("bytes", store().bytes());
    summary.put("ingestRowsPerSecond", ingestRowsPerSecond());
    summary.put("singleMicrosPerRow", singleMicrosPerRow());
    summary.put("batchMicrosPerRow", batchMicrosPerRow());
    summary.put("rowsRead", rowsRead());
    summary.put("shares", shares(ranks));
    summary.put("digest", digest());
    return summary;
  }

  List<Map<String, Object>> results() {
    return ranks.stream().map(DemoResult::result).toList();
  }

  private static Map<String, Object> result(RankReadings rank) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("rank", rank.rank());
    result.put("executor", rank.executor());
    result.put("rows", rank.info().ownRows());
    result.put("bytes", rank.info().ownBytes());
    result.put("loadMillis", TimeUnit.NANOSECONDS.toMillis(rank.loadNanos()));
    result.put("rowsRead", rank.rowsRead());
    result.put("mismatches", rank.mismatches());
    result.put("firstMismatch", rank.firstMismatch() < 0 ? null : rank.firstMismatch());
    result.put("singleMicrosPerRow", rank.single().microsPerRow());
    result.put("batchMicrosPerRow", rank.batches().microsPerRow());
    result.put("shares", shares(List.of(rank)));
    return result;
  }

  private static Map<String, Double> shares(List<RankReadings> ranks) {
    Map<String, Double> shares = new LinkedHashMap<>();
    shares.put("ownProcess", share(ReadPath.OWN_PROCESS, ranks));
    shares.put("sameHost", share(ReadPath.SAME_HOST, ranks));
    shares.put("remote", share(ReadPath.REMOTE, ranks));
    return shares;
  }
}

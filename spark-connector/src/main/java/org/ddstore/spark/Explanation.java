// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.Serializable;
import java.util.List;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.types.Plural;
import org.ddstore.types.Schema;

/**
 * A prediction of a store before it is loaded: rows and bytes on each rank, required and available
 * memory, and the read path between each pair of ranks.
 *
 * @param rows number of rows of the whole store
 * @param bytes size of all packed records, including the offsets of ragged records
 * @param exactBytes false if the size of ragged records is estimated from a sample of rows
 * @param schema schema of a record
 * @param route description of the way from the DataFrame to the ranks
 * @param warnings risks to know before relying on the store
 * @param problems shortages of memory, each with the setting that helps
 * @param width number of ranks of a replica group, which together hold one full copy
 * @param ranks one entry per rank, in rank order
 * @param transport transport of rows outside of shared memory, with the reason for its choice
 * @param paths read path of each rank to each rank of its replica group
 */
public record Explanation(
    long rows,
    long bytes,
    boolean exactBytes,
    Schema schema,
    String route,
    List<String> warnings,
    List<PreflightException.Problem> problems,
    int width,
    List<Rank> ranks,
    String transport,
    List<Path> paths) {
  /**
   * The share and the environment of one rank.
   *
   * @param rank number of the rank
   * @param group number of its replica group
   * @param executor Spark's id of its executor
   * @param firstRow global index of its first row
   * @param rows number of its rows
   * @param bytes memory for its rows
   * @param kernel implementation that copies rows in its executor, with the reason
   * @param host memory and limits of its executor's host
   * @param device accelerator that Spark assigned to it, or the reason for none
   * @param batches whether and how a loader's batches are pinned for a device, with the reason
   */
  public record Rank(
      int rank,
      int group,
      String executor,
      long firstRow,
      long rows,
      long bytes,
      String kernel,
      HostFacts host,
      String device,
      String batches) {}

  /**
   * The way in which one rank reads the rows of another.
   *
   * @param reader number of the rank that reads
   * @param owner number of the rank that holds the rows
   * @param path name of the read path: memory or network
   * @param reason reason for the path
   */
  public record Path(int reader, int owner, String path, String reason) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /** Returns human-readable lines. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append("%s of %s%n".formatted(Plural.of(rows, "row"), schema));
    text.append(
        "%,d bytes%s, loaded %s%n"
            .formatted(bytes, exactBytes ? "" : " (estimated from a sample)", route));
    int groups = ranks.size() / width;
    if (groups > 1) {
      text.append(
          "%d replica groups of %s, each with all rows%n"
              .formatted(groups, Plural.of(width, "rank")));
    }
    for (Rank rank : ranks) {
      text.append(groups > 1 ? "group %d, ".formatted(rank.group()) : "");
      text.append(
          "rank %d on executor %s: rows [%d, %d), %,d bytes; rows are copied by %s%n"
              .formatted(
                  rank.rank(),
                  rank.executor(),
                  rank.firstRow(),
                  rank.firstRow() + rank.rows(),
                  rank.bytes(),
                  rank.kernel()));
      text.append(
          "rank %d computes on %s; batches %s%n"
              .formatted(rank.rank(), rank.device(), rank.batches()));
    }
    for (Path path : paths) {
      text.append(
          "rank %d reads rank %d by %s: %s%n"
              .formatted(path.reader(), path.owner(), path.path(), path.reason()));
    }
    text.append("remote rows by %s%n".formatted(transport));
    warnings.forEach(warning -> text.append("warning: %s%n".formatted(warning)));
    problems.forEach(
        problem -> text.append("problem: %s: %s%n".formatted(problem.missing(), problem.remedy())));
    return text.toString();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.List;
import org.ddstore.types.Plural;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The layout of a store as one rank sees it.
 *
 * @param rank rank in [0, ranks), or -1 for a handle that is not a rank
 * @param ranks number of ranks that hold the store
 * @param variables variables in the order in which they were added
 */
public record StoreInfo(int rank, int ranks, List<VariableInfo> variables) {
  /**
   * The layout of one variable.
   *
   * @param name name of the variable
   * @param schema schema of its records
   * @param rows number of rows of all ranks
   * @param bytes size of the packed records of all ranks
   * @param extents extents in row order
   */
  public record VariableInfo(
      String name, Schema schema, long rows, long bytes, List<Extent> extents) {}

  /**
   * A run of consecutive rows in the memory of one rank.
   *
   * @param rank rank that owns the rows
   * @param firstRow global index of the first row
   * @param rows number of rows
   * @param bytes size of the packed records
   * @param process process of the owner as {@code pid@host}
   * @param path path by which this rank reads the rows
   * @param reason reason for the path
   */
  public record Extent(
      int rank,
      long firstRow,
      long rows,
      long bytes,
      String process,
      ReadPath path,
      String reason) {}

  /** Returns human-readable lines: each variable, followed by its extents with path and reason. */
  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder(
            "store of %s, seen from rank %d%n".formatted(Plural.of(ranks, "rank"), rank));
    for (VariableInfo variable : variables) {
      text.append(
          "\"%s\" %s: %s, %,d bytes%n"
              .formatted(
                  variable.name(),
                  variable.schema(),
                  Plural.of(variable.rows(), "row"),
                  variable.bytes()));
      for (Extent extent : variable.extents()) {
        text.append(
            "  rank %d (%s) rows [%d, %d) %,d bytes: %s (%s)%n"
                .formatted(
                    extent.rank(),
                    extent.process(),
                    extent.firstRow(),
                    extent.firstRow() + extent.rows(),
                    extent.bytes(),
                    extent.path(),
                    extent.reason()));
      }
    }
    return text.toString();
  }
}

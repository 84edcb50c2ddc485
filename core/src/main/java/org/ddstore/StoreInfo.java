package org.ddstore;

import java.util.List;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * What a rank knows of its store.
 *
 * @param rank of [0, ranks)
 * @param ranks how many there are
 * @param variables in the order in which they were added
 */
public record StoreInfo(int rank, int ranks, List<VariableInfo> variables) {
  /**
   * One variable.
   *
   * @param name its name
   * @param schema of its records
   * @param rows of all ranks
   * @param bytes of the packed records of all ranks
   * @param extents in row order
   */
  public record VariableInfo(
      String name, Schema schema, long rows, long bytes, List<Extent> extents) {}

  /**
   * A run of rows in the memory of one rank.
   *
   * @param rank the owner
   * @param firstRow its global index
   * @param rows how many
   * @param bytes of the packed records
   * @param process the owner's {@code pid@host}
   * @param path how this rank reads it
   * @param reason why so
   */
  public record Extent(
      int rank,
      long firstRow,
      long rows,
      long bytes,
      String process,
      ReadPath path,
      String reason) {}

  /** Lines for people: each variable, then each of its extents with path and reason. */
  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder("store of %d ranks, seen from rank %d%n".formatted(ranks, rank));
    for (VariableInfo variable : variables) {
      text.append(
          "\"%s\" %s: %,d rows, %,d bytes%n"
              .formatted(variable.name(), variable.schema(), variable.rows(), variable.bytes()));
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.ddstore.types.Internal;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The files that reads have left out: those that options such as {@code broken} of images permit,
 * and those in the folders whose names are not of the format. Files that writers add, such as
 * {@code _SUCCESS}, are not among them.
 */
public final class LeftOutFiles {
  private LeftOutFiles() {}

  /** A table that knows its files. */
  @Internal
  public interface Owner {
    /** {@return relative paths of the files that are left out, in row order} */
    List<String> leftOutFiles();
  }

  /**
   * {@return relative paths of the files that the reads of a query have left out, in row order; of
   * folders, with a slash at the end}
   *
   * @param rows a DataFrame of files, or one that is derived from it
   */
  public static List<String> of(Dataset<?> rows) {
    List<String> files = new ArrayList<>();
    for (LogicalPlan leaf :
        CollectionConverters.asJava(rows.queryExecution().analyzed().collectLeaves())) {
      if (leaf instanceof DataSourceV2Relation relation
          && relation.table() instanceof Owner table) {
        files.addAll(table.leftOutFiles());
      }
    }
    return List.copyOf(files);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.TextBasedFileScan;
import scala.jdk.javaapi.CollectionConverters;

/** The mode in which Spark reads lines of CSV and JSON that it cannot parse. */
final class MalformedLines {
  private static final String MODE = "mode";
  private static final String DROPPED = "DROPMALFORMED";

  private MalformedLines() {}

  /** Returns whether a scan may leave out lines, depending on the columns that it parses. */
  static boolean mayBeDropped(LogicalPlan plan) {
    for (LogicalPlan leaf : SparkInternals.list(plan.collectLeaves())) {
      if (leaf instanceof LogicalRelation relation
          && relation.relation() instanceof HadoopFsRelation files) {
        Map<String, String> options = CollectionConverters.asJava(files.options());
        if (options.entrySet().stream().anyMatch(MalformedLines::drops)) {
          return true;
        }
      }
      if (leaf instanceof DataSourceV2ScanRelation scan
          && scan.scan() instanceof TextBasedFileScan) {
        return true; // the options of these scans differ between releases of Spark
      }
    }
    return false;
  }

  private static boolean drops(Map.Entry<String, String> option) {
    return option.getKey().equalsIgnoreCase(MODE) && option.getValue().equalsIgnoreCase(DROPPED);
  }
}

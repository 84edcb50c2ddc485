package org.ddstore.spark;

import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;

/**
 * Where the rows of a resident store come from, and how: what a lost shard is loaded from again.
 *
 * @param rows of the load; each append has its own
 */
record ResidentOrigin(
    Dataset<Row> rows, IngestOptions ingest, Settings settings, ResourceProfile profile) {

  SparkSession session() {
    return rows.sparkSession();
  }

  ResidentOrigin with(Dataset<Row> appended) {
    return new ResidentOrigin(appended, ingest, settings, profile);
  }

  IngestPlan plan(ReplicaGroups groups) {
    return IngestPlan.of(rows, ingest, groups.width());
  }

  /** A barrier job of some ranks. */
  BarrierJob job(ReplicaGroups groups, long estimatedBytes) {
    return new BarrierJob(session(), profile, settings, groups, estimatedBytes);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.dump.DumpSource;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.Wording;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.BarrierStage;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.job.ResidentView;
import org.ddstore.types.DDStoreException;

/**
 * The origin of rows of a resident store, from which lost shards can be loaded again: a DataFrame
 * with options, or a dump.
 *
 * @param dump dump that the rows come from; empty if they come from the DataFrame
 * @param rows DataFrame of the load or of one append; without rows if there is a dump
 * @param ingest options of the conversion to records
 * @param slotsWarning warning shared by all jobs of the store
 */
public record ResidentOrigin(
    Optional<DumpSource> dump,
    Dataset<Row> rows,
    IngestOptions ingest,
    Settings settings,
    ResourceProfile profile,
    SlotsWarning slotsWarning,
    ResidentView stores) {

  public SparkSession session() {
    return rows.sparkSession();
  }

  /**
   * Returns an origin with the same options and other rows. Because the options belong to the
   * store, errors in these rows must be fixed in their query.
   *
   * @param others DataFrame of the other rows
   * @param remedy end of the message for a missing column
   * @throws IllegalArgumentException if the rows lack a column that the options name
   */
  public ResidentOrigin with(Dataset<Row> others, String store, String remedy) {
    try {
      IngestPlan.checkNames(others, ingest);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "rows of columns %s do not fit the options of \"%s\": %s, or %s"
              .formatted(Arrays.toString(others.columns()), store, e.getMessage(), remedy),
          e);
    }
    return new ResidentOrigin(
        Optional.empty(),
        others,
        ingest.wording(Wording.QUERY),
        settings,
        profile,
        slotsWarning,
        stores);
  }

  public IngestPlan plan(ReplicaGroups groups) {
    return IngestPlan.of(rows, ingest, groups.width());
  }

  public Plans plans(Supplier<IngestPlan> planner) {
    return new Plans(session().sparkContext(), settings, planner);
  }

  /**
   * Waits until a number of slots can run tasks at the same time. Blocks.
   *
   * @return false if that was impossible until the timeout
   * @throws DDStoreException if the thread is interrupted
   */
  boolean awaitSlots(int slots, Duration timeout) {
    RDD<InternalRow> none =
        PlacedRdd.empty(session().sparkContext(), Collections.nCopies(slots, ""));
    return BarrierStage.awaitSlots(BarrierJob.onProfile(none, profile), timeout);
  }

  /**
   * Returns a barrier job of ranks for which slots were available before: if slots are missing now,
   * an executor was lost, and the job waits until the cluster manager has replaced it.
   *
   * @param estimatedBytes memory of all copies of the rows; 0 if unknown
   */
  public BarrierJob job(ReplicaGroups groups, long estimatedBytes) {
    return new BarrierJob(
        session(),
        profile,
        settings.with(Setting.SLOTS_TIMEOUT, replacementTimeout()),
        groups,
        estimatedBytes,
        slotsWarning,
        stores);
  }

  /** Returns the maximum time to wait for the replacement of a lost executor. */
  Duration replacementTimeout() {
    Duration configured = settings.slotsTimeout();
    return configured.compareTo(BarrierJob.REPLACEMENT) > 0 ? configured : BarrierJob.REPLACEMENT;
  }
}

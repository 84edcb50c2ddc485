package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.function.Supplier;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
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
 * Where the rows of a resident store come from, and how: what a lost shard is loaded from again.
 *
 * @param rows of the load; each append has its own
 * @param slotsWarning one for all jobs of the store
 * @param stores resident stores of the application
 */
public record ResidentOrigin(
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
   * As this one, for other rows: what helps against an error of theirs is in their query, because
   * the options are the store's.
   *
   * @throws IllegalArgumentException naming a column that the options name and the rows lack
   */
  public ResidentOrigin with(Dataset<Row> others, String store, String remedy) {
    try {
      IngestPlan.checkNames(others, ingest);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "rows of columns %s do not fit the options of \"%s\": %s. %s"
              .formatted(Arrays.toString(others.columns()), store, e.getMessage(), remedy),
          e);
    }
    return new ResidentOrigin(
        others, ingest.withWording(Wording.OPTIONS), settings, profile, slotsWarning, stores);
  }

  public IngestPlan plan(ReplicaGroups groups) {
    return IngestPlan.of(rows, ingest, groups.width());
  }

  public Plans plans(Supplier<IngestPlan> planner) {
    return new Plans(session().sparkContext(), settings.maxAttempts(), planner);
  }

  /**
   * Returns when so many slots take tasks at the same time, or false at the deadline. Blocks.
   *
   * @throws DDStoreException if it is interrupted
   */
  boolean awaitSlots(int slots, Duration timeout) {
    RDD<InternalRow> none =
        PlacedRdd.empty(session().sparkContext(), Collections.nCopies(slots, ""));
    return BarrierStage.awaitSlots(BarrierJob.onProfile(none, profile), timeout);
  }

  /**
   * A barrier job of ranks for which there were slots once: if some are missing now, an executor is
   * lost, and the job waits until the cluster manager has replaced it.
   */
  public BarrierJob job(ReplicaGroups groups, long estimatedBytes) {
    return new BarrierJob(
        session(),
        profile,
        settings.withSlotsTimeout(replacementTimeout()),
        groups,
        estimatedBytes,
        slotsWarning,
        stores);
  }

  /** How long is waited for slots that were there. */
  Duration replacementTimeout() {
    Duration ofUser = settings.slotsTimeout();
    return ofUser.compareTo(BarrierJob.REPLACEMENT) > 0 ? ofUser : BarrierJob.REPLACEMENT;
  }
}

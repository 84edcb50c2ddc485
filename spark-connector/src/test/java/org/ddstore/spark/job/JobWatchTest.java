// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.storage.RDDBlockId;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.spark.types.StoreJobException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The driver's registrations of a job end with the job, however it ends; plans are repeated. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class JobWatchTest {
  private static SparkSession session;

  @BeforeAll
  static void start() {
    TestCluster.stopOthers();
    session =
        SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
    session.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    session.stop();
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
  }

  @AfterEach
  void assertNothingRegistered() {
    SparkContext context = session.sparkContext();
    assertThat(context.listenerBus().listeners()).noneMatch(JobWatch.class::isInstance);
    assertThat(CollectionConverters.asJava(context.getJobTags())).isEmpty();
    assertThat(context.getLocalProperty(JobWatch.JOB_PROPERTY)).isNull();
  }

  private static final class StackOverflow extends StackOverflowError {
    private static final long serialVersionUID = 1L;
  }

  /** Rows whose partitions the driver cannot list. */
  private static final class UnlistedRows extends RDD<InternalRow> {
    private static final long serialVersionUID = 1L;

    UnlistedRows(SparkContext context) {
      super(
          context,
          CollectionConverters.asScala(List.<org.apache.spark.Dependency<?>>of()).toSeq(),
          ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class));
    }

    @Override
    public Partition[] getPartitions() {
      throw new StackOverflow();
    }

    @Override
    public scala.collection.Iterator<InternalRow> compute(Partition split, TaskContext context) {
      throw new AssertionError("no partition to compute");
    }
  }

  @Test
  void endsWithAnErrorOnTheDriver() {
    SparkContext context = session.sparkContext();
    BarrierJob job =
        new BarrierJob(
            session,
            context.resourceProfileManager().defaultResourceProfile(),
            Settings.of(Map.of()),
            new ReplicaGroups(1, 1),
            0,
            SlotsWarning.ofJob(),
            new NoStores());

    assertThatThrownBy(
            () ->
                job.run(
                    attempt ->
                        new BarrierJob.Load<>(new UnlistedRows(context), null, null, rank -> 0)))
        .isInstanceOf(StackOverflow.class);
  }

  @Test
  void endsWithAnErrorOfThePlan() {
    assertThatThrownBy(
            () ->
                new Plans(
                    session.sparkContext(),
                    Settings.of(Map.of()),
                    () -> {
                      throw new StackOverflow();
                    }))
        .isInstanceOf(StackOverflow.class);
  }

  /** Plans rows that are stored, and loses them as often as it is told. */
  private static Plans losing(int losses, int maxAttempts, AtomicInteger plans) {
    return new Plans(
        session.sparkContext(),
        Settings.of(Map.of()).with(Setting.MAX_ATTEMPTS, maxAttempts),
        () -> {
          IngestPlan plan =
              IngestPlan.of(session.range(100).repartition(3).toDF(), IngestOptions.defaults(), 1);
          if (plans.incrementAndGet() <= losses) {
            try (plan) {
              Object rdd = session.sparkContext().getPersistentRDDs().keysIterator().next();
              SparkEnv.get().blockManager().removeBlock(new RDDBlockId((Integer) rdd, 1), true);
              plan.shards().count();
            }
          }
          return plan;
        });
  }

  @Test
  void replansAfterTheLossOfStoredRows() {
    AtomicInteger made = new AtomicInteger();
    try (Plans plans = losing(2, 3, made)) {
      assertThat(made).hasValue(3);
      assertThat(plans.current().shards().count()).isEqualTo(100);
    }
    assertThat(session.sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void pausesBetweenAttemptsGrow() {
    assertThat(IntStream.of(1, 2, 3, 4, 6, 7, 999).mapToObj(BarrierJob::pauseAfter))
        .extracting(Duration::toSeconds)
        .containsExactly(0L, 1L, 2L, 4L, 16L, 30L, 30L);
  }

  @Test
  void reportsTheLossInTheLastAttempt() {
    AtomicInteger made = new AtomicInteger();
    assertThatThrownBy(() -> losing(2, 2, made))
        .isInstanceOf(StoreJobException.class)
        .hasMessageStartingWith("attempt 2 of 2 to plan the rows failed: ")
        .hasMessageContaining("stored partition ")
        .hasCauseInstanceOf(SourceChangedException.class);
    assertThat(made).hasValue(2);
    assertThat(session.sparkContext().getPersistentRDDs().size()).isZero();
  }

  @Test
  void doesNotReplanAfterDataErrors() {
    AtomicInteger plans = new AtomicInteger();
    assertThatThrownBy(
            () ->
                new Plans(
                    session.sparkContext(),
                    Settings.of(Map.of()),
                    () -> {
                      plans.incrementAndGet();
                      return IngestPlan.of(
                          session.sql("select map(1, 2) as m"), IngestOptions.defaults(), 1);
                    }))
        .isInstanceOf(IngestException.class);
    assertThat(plans).hasValue(1);
  }
}

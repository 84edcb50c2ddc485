// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.cluster.Preflight;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.failure.RetryPolicy;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.job.BarrierJob;
import org.ddstore.spark.job.Plans;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentLoading;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentProcesses;
import org.ddstore.spark.resident.StoreEvents;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.wire.connection.StoreToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A launcher of the jobs that a {@link StoreSpec} describes: one run, one load, one dry run. */
final class StoreLauncher {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLauncher.class);

  /** Maximum number of columns that {@link #toString} names. */
  private static final int SHOWN = 16;

  private final Dataset<Row> rows;
  private final IngestOptions ingest;
  private final Settings settings;
  private final ResourceProfile profile;

  StoreLauncher(
      Dataset<Row> rows, IngestOptions ingest, Settings settings, ResourceProfile profile) {
    this.rows = rows;
    this.ingest = ingest;
    this.settings = settings;
    this.profile = profile;
  }

  private SparkSession session() {
    return rows.sparkSession();
  }

  private SparkContext context() {
    return session().sparkContext();
  }

  /** Returns the replica groups of the job, after the check that the cluster can run it. */
  static ReplicaGroups checkedGroups(
      SparkContext context, ResourceProfile profile, Settings settings) {
    int ranks = Preflight.ranks(context, profile, settings);
    ReplicaGroups groups = settings.groups(ranks);
    Preflight.check(context, profile, ranks, 0, Map.of(), settings);
    return groups;
  }

  /** Loads the rows and runs a serializable task on every rank; see {@link StoreSpec#run}. */
  <T> List<T> run(RankTask<T> task) {
    ReplicaGroups groups = checkedGroups(context(), profile, settings);
    return JobDescription.of(context(), "run", () -> run(task, groups));
  }

  private <T> List<T> run(RankTask<T> task, ReplicaGroups groups) {
    long start = System.nanoTime();
    SlotsWarning slotsWarning = SlotsWarning.ofJob();
    try (Plans plans =
        new Plans(context(), settings, () -> IngestPlan.of(rows, ingest, groups.width()))) {
      List<T> results =
          plans.load(
              () ->
                  new BarrierJob(
                          session(),
                          profile,
                          settings,
                          groups,
                          plans.current().memoryBytes() * groups.groups(),
                          slotsWarning,
                          ResidentStores.of(context()))
                      .run(
                          attempt ->
                              BarrierJob.Load.of(
                                  plans.forAttempt(attempt), groups, new UserTaskBody<>(task))));
      IngestPlan plan = plans.current();
      new StoreEvents(context(), "").ranOn(plan.rows(), plan.memoryBytes(), groups.ranks(), start);
      return results;
    }
  }

  /**
   * Loads the rows as a resident store; see {@link StoreSpec#load}.
   *
   * @param inPlace whether the load replaces the store of this name, if it exists
   */
  ResidentStore load(String name, boolean inPlace) {
    ResidentOrigin origin =
        new ResidentOrigin(
            Optional.empty(),
            rows,
            ingest,
            forResident(name, settings),
            profile,
            SlotsWarning.ofStore(name),
            ResidentStores.of(context()));
    return ResidentStores.of(context())
        .load(
            name,
            settings.writeTimeout(),
            inPlace,
            stores -> {
              stores.find(name).ifPresent(there -> QueriedStores.check(rows, there));
              return JobDescription.ofStore(
                  context(), name, "load", () -> loadShards(stores, name, origin));
            });
  }

  /** Returns settings with a transport that resident stores can use; warns if it is another one. */
  static Settings forResident(String name, Settings settings) {
    Optional<String> otherTransport = TransportBackends.residentWarning(settings.transport());
    otherTransport.ifPresent(warning -> LOG.warn("store \"{}\": {}", name, warning));
    return otherTransport.isEmpty()
        ? settings
        : settings.with(Setting.TRANSPORT, TransportBackends.base());
  }

  /** Loads the shards of a resident store. Blocks. Frees everything if it fails. */
  static ResidentStore loadShards(ResidentStores stores, String name, ResidentOrigin origin) {
    ReplicaGroups groups =
        checkedGroups(origin.session().sparkContext(), origin.profile(), origin.settings());
    QueriedStores.warning(name, origin.rows()).ifPresent(LOG::warn);
    StoreToken token = StoreToken.random();
    ResidentProcesses processes = ResidentProcesses.join(token, origin.settings());
    try (Plans plans = origin.plans(() -> origin.plan(groups))) {
      ResidentLoading loading = new ResidentLoading(origin, groups, token, processes);
      return plans.load(
          () ->
              loading.run(
                  plans.current().memoryBytes() * groups.groups(),
                  0,
                  attempt -> {
                    IngestPlan plan = plans.forAttempt(attempt);
                    return new ResidentLoading.Source(
                        plan.shards(groups.ranks()), plan.encoder(groups.members()));
                  },
                  loaded -> {
                    IngestPlan plan = plans.current();
                    ResidentStore store =
                        new ResidentStore(
                            stores,
                            name,
                            origin,
                            token,
                            plan.sourceSchema(),
                            plan.mappings(),
                            processes,
                            ResidentLayout.of(plan.schema(), groups, loaded.shards())
                                .without(loaded.gone()));
                    store.showMetrics();
                    return store;
                  }));
    } catch (Throwable e) { // Spark throws InterruptedException undeclared
      processes.close();
      throw Interrupts.beforeCommit(e, "load of \"%s\"".formatted(name));
    }
  }

  /** Predicts a run; see {@link StoreSpec#explain}. */
  Explanation explain() {
    ReplicaGroups groups = checkedGroups(context(), profile, settings);
    return JobDescription.of(context(), "explain", () -> explain(groups));
  }

  private Explanation explain(ReplicaGroups groups) {
    RetryPolicy.of(settings).apply(context());
    try (IngestPlan plan = Plans.readingAll(() -> IngestPlan.of(rows, ingest, groups.width()))) {
      return new ExplanationJob(session(), profile, settings, groups.ranks()).run(plan);
    } finally {
      RetryPolicy.clear(context());
    }
  }

  private static String columnsText(String... names) {
    String shown =
        String.join(", ", Arrays.asList(names).subList(0, Math.min(SHOWN, names.length)));
    return names.length <= SHOWN
        ? "columns " + shown
        : "%d columns: %s, ..".formatted(names.length, shown);
  }

  /** Returns the columns of the rows, and the options and settings that are not default. */
  @Override
  public String toString() {
    return Stream.of(columnsText(rows.columns()), ingest.text(), settings.text())
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining("; "));
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.cluster.SlotsWarning;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.dump.DumpSource;
import org.ddstore.spark.job.PlacedRdd;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentLoading;
import org.ddstore.spark.resident.ResidentOrigin;
import org.ddstore.spark.resident.ResidentProcesses;
import org.ddstore.spark.task.JobDescription;
import org.ddstore.spark.wire.connection.StoreToken;

/** A launcher of the job that a {@link RestoreSpec} describes. */
final class RestoreLauncher {
  private final SparkSession session;
  private final DumpSource dump;
  private final Settings settings;
  private final ResourceProfile profile;

  RestoreLauncher(
      SparkSession session, DumpSource dump, Settings settings, ResourceProfile profile) {
    this.session = session;
    this.dump = dump;
    this.settings = settings;
    this.profile = profile;
  }

  /**
   * Restores a store; see {@link RestoreSpec#load}.
   *
   * @param inPlace whether it replaces the store of this name, if it exists
   */
  ResidentStore load(String name, boolean inPlace) {
    SparkContext context = session.sparkContext();
    return ResidentStores.of(context)
        .load(
            name,
            settings.writeTimeout(),
            inPlace,
            stores ->
                JobDescription.ofStore(
                    session.sparkContext(),
                    name,
                    "restore",
                    () ->
                        loadShards(
                            stores,
                            name,
                            new ResidentOrigin(
                                Optional.of(dump),
                                session.createDataFrame(List.of(), dump.sourceSchema()),
                                dump.options(),
                                StoreLauncher.forResident(name, settings),
                                profile,
                                SlotsWarning.ofStore(name),
                                stores))));
  }

  /** Loads the shards. Blocks. Frees everything if it fails. */
  private ResidentStore loadShards(ResidentStores stores, String name, ResidentOrigin origin) {
    SparkContext context = session.sparkContext();
    ReplicaGroups groups = StoreLauncher.checkedGroups(context, profile, origin.settings());
    StoreToken token = StoreToken.random();
    ResidentProcesses processes = ResidentProcesses.join(token, origin.settings());
    try {
      ResidentLoading loading = new ResidentLoading(origin, groups, token, processes);
      return loading.run(
          dump.memoryBytes() * groups.groups(),
          0,
          attempt ->
              new ResidentLoading.Source(
                  PlacedRdd.empty(context, Collections.nCopies(groups.ranks(), "")),
                  dump.loader(groups.width(), groups.members())),
          loaded -> {
            ResidentLayout layout =
                ResidentLayout.of(dump.schema(), groups, loaded.shards()).without(loaded.gone());
            dump.checkDigest(layout.digest());
            ResidentStore store =
                new ResidentStore(
                    stores,
                    name,
                    origin,
                    token,
                    dump.sourceSchema(),
                    dump.columns(),
                    processes,
                    layout);
            store.showMetrics();
            return store;
          });
    } catch (Throwable e) { // Spark throws InterruptedException undeclared
      processes.close();
      throw StoreDump.dumpFailure(Interrupts.beforeCommit(e, "restore of \"%s\"".formatted(name)));
    }
  }
}

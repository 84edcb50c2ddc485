package org.ddstore.spark.job;

import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.resource.ResourceInformation;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.cluster.DeviceBinding;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.WireSession;

/**
 * A rank that has met the others. All of it is closed by who started the rank.
 *
 * @param attempt from 1 on
 * @param ranks all of them
 * @param group those of its replica group
 * @param remote how rows are read that memory does not reach
 * @param session of the store whose rows are read
 * @param options of stores
 * @param writer holds what the rank has loaded, if it does; null if nothing is loaded
 * @param loadNanos how long that took
 * @param home whether it runs where its shard is
 */
record StartedRank(
    int attempt,
    Settings settings,
    ReplicaGroups groups,
    Communicator ranks,
    Communicator group,
    RemoteRows remote,
    WireSession session,
    StoreOptions options,
    ShardWriter writer,
    long loadNanos,
    boolean home) {

  int rank() {
    return ranks.rank();
  }

  /** The same rank with its replica group. */
  StartedRank in(Communicator replicaGroup) {
    return new StartedRank(
        attempt,
        settings,
        groups,
        ranks,
        replicaGroup,
        remote,
        session,
        options,
        writer,
        loadNanos,
        home);
  }

  /** The same rank, at the place of its shard or not. */
  StartedRank at(boolean atHome) {
    return new StartedRank(
        attempt, settings, groups, ranks, group, remote, session, options, writer, loadNanos,
        atHome);
  }

  /**
   * What a user's task is given.
   *
   * @param digest of the rows
   */
  RankContext context(DDStore store, String digest, TaskLoaders loaders) {
    return new RankContext(
        attempt,
        store,
        digest,
        ranks,
        loaders,
        groups.groupOf(rank()),
        deviceAddresses(),
        executorId(),
        host(),
        remote.description(),
        loadNanos,
        home);
  }

  static String executorId() {
    return SparkEnv.get().executorId();
  }

  /** The address at which other processes reach this one. */
  static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  /** What Spark gave to this task, as it calls it. */
  private static List<String> deviceAddresses() {
    ResourceInformation devices =
        BarrierTaskContext.get().resourcesJMap().get(DeviceBinding.RESOURCE);
    return devices == null ? List.of() : List.of(devices.addresses());
  }
}

package org.ddstore.spark.job;

import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.resource.ResourceInformation;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
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
public record StartedRank(
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
  /** Name of the variable that holds the rows of the DataFrame. */
  public static final String ROWS = "rows";

  public int rank() {
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
  public StartedRank at(boolean atHome) {
    return new StartedRank(
        attempt, settings, groups, ranks, group, remote, session, options, writer, loadNanos,
        atHome);
  }

  public static String executorId() {
    return SparkEnv.get().executorId();
  }

  /** The address at which other processes reach this one. */
  public static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  /** Addresses of the devices that Spark gave to the task of the calling thread. */
  public static List<String> deviceAddresses() {
    ResourceInformation devices =
        BarrierTaskContext.get().resourcesJMap().get(DeviceBinding.RESOURCE);
    return devices == null ? List.of() : List.of(devices.addresses());
  }
}

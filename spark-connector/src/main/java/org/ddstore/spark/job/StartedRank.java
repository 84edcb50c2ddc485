// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.resource.ResourceInformation;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.cluster.DeviceBinding;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.wire.WireSession;

/**
 * A rank that is connected to all others. {@code RankRunner} closes its parts.
 *
 * @param attempt number of the attempt, from 1
 * @param remote transport of rows outside of shared memory
 * @param session session of the store whose rows are read
 * @param writer writer of the loaded shard, empty if this rank loads none; null if no rank loads
 * @param loadNanos duration of the load in nanoseconds; 0 if nothing is loaded
 * @param home whether the rank runs in the executor of its shard
 */
public record StartedRank(
    int attempt,
    Settings settings,
    ReplicaGroups groups,
    Communicator ranks,
    Communicator group,
    OpenTransport remote,
    WireSession session,
    StoreOptions options,
    ShardWriter writer,
    long loadNanos,
    boolean home) {
  public static final String ROWS = "rows";

  public int rank() {
    return ranks.rank();
  }

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

  /**
   * Returns a copy of this rank.
   *
   * @param home whether the rank runs in the executor of its shard
   */
  public StartedRank at(boolean home) {
    return new StartedRank(
        attempt, settings, groups, ranks, group, remote, session, options, writer, loadNanos, home);
  }

  public static String executorId() {
    return SparkEnv.get().executorId();
  }

  /** Returns the address at which other processes reach this one. */
  public static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  public static List<String> deviceAddresses() {
    ResourceInformation devices =
        BarrierTaskContext.get().resourcesJMap().get(DeviceBinding.RESOURCE);
    return devices == null ? List.of() : List.of(devices.addresses());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.DDStore;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.cluster.DeviceBinding;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.job.TaskLoaders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The view of one rank on the store, its position among the ranks and the collectives. */
public final class RankContext {
  /** The name of the variable that holds the DataFrame. */
  public static final String ROWS = StartedRank.ROWS;

  private static final Logger LOG = LoggerFactory.getLogger(RankContext.class);

  private final StartedRank started;
  private final DDStore store;
  private final String digest;
  private final TaskLoaders loaders;
  private final List<String> deviceAddresses = StartedRank.deviceAddresses();
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  /**
   * @param digest digest of the rows
   * @param loaders registry of the loaders that the task opens
   */
  RankContext(StartedRank started, DDStore store, String digest, TaskLoaders loaders) {
    this.started = started;
    this.store = store;
    this.digest = digest;
    this.loaders = loaders;
  }

  /** {@return the number of this rank, in [0, {@link #ranks()})} */
  public int rank() {
    return communicator().rank();
  }

  /** {@return the number of ranks} */
  public int ranks() {
    return communicator().size();
  }

  /** {@return the number of this attempt: 1 for the first submission, plus 1 after each failure} */
  public int attempt() {
    return started.attempt();
  }

  /**
   * {@return the replica group of this rank, in [0, {@link #replicaGroups()})} The {@code
   * store().ranks()} ranks of a group hold one full copy of the data; this rank has the number
   * {@code store().rank()} in its group.
   */
  public int replicaGroup() {
    return started.groups().groupOf(rank());
  }

  /** {@return the number of replica groups, each of which holds one full copy of the data} */
  public int replicaGroups() {
    return ranks() / store.ranks();
  }

  /**
   * {@return the store of this rank's replica group} It is closed when the task ends. All ranks of
   * the group must call its collective methods. The task may add its own variables, which belong to
   * the group. With several groups, {@link #rows()} cannot be updated, because a change would not
   * reach the other copies; variables that the task adds can.
   */
  public DDStore store() {
    return store;
  }

  /** {@return the rows of the DataFrame: the variable {@value #ROWS} of {@link #store()}} */
  public Variable rows() {
    return store.variable(ROWS);
  }

  /**
   * Opens a {@link #loader(BatchSampler, LoaderOptions)} with {@link LoaderOptions#defaults()}.
   *
   * @param sampler order and batches of the samples
   * @return the loader; the task closes it, or its end does
   */
  public Loader loader(BatchSampler sampler) {
    return loader(sampler, LoaderOptions.defaults());
  }

  /**
   * Opens a loader of this rank's batches of {@link #rows()}. The ranks of all replica groups share
   * each epoch, so {@link Loader#receipt} takes {@link #communicator()}. The batches are prepared
   * for {@link #device()} by default; the options may name another device that Spark assigned to
   * this task. The loader's states are bound to the loaded rows by their digest. Local. The caller
   * closes the loader; loaders that are still open are closed when the task ends.
   *
   * @param sampler a sampler that is equal on all ranks
   * @param options options of the loader
   * @return the loader; the task closes it, or its end does
   * @throws IllegalArgumentException if the options name a device that Spark did not assign to this
   *     rank's task; the message names both
   */
  public Loader loader(BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(options, "options is null");
    WorldRank place = new WorldRank(rank(), ranks());
    OptionalInt device = bind(options.device());
    LoaderOptions labelled = options.defaultDigest(digest);
    LoaderOptions bound = device.isPresent() ? labelled.defaultDevice(device.getAsInt()) : labelled;
    return loaders.open(() -> Loader.open(rows(), sampler, place, bound));
  }

  /**
   * {@return the collectives of all ranks, for the thread that runs the task} With several replica
   * groups, the collectives of {@link #store()} span only the ranks of one group. If one rank waits
   * in a collective of all ranks while another waits for it in one of their group, all ranks throw
   * a {@link org.ddstore.types.CollectiveMismatchException} after one second.
   */
  public Communicator communicator() {
    return started.ranks();
  }

  /**
   * {@return the number of the accelerator that Spark assigned to this rank's task: the first
   * address of the resource {@code gpu}, or empty if no address is a number} Logs one warning if
   * the environment variable {@code LOCAL_RANK} differs, and one if the host has several devices
   * and none is assigned or configured. Local.
   */
  public OptionalInt device() {
    return bind(OptionalInt.empty());
  }

  /**
   * Checks a device that the user has configured, with the warnings of {@link #device()}.
   *
   * @param configured number of the device on the host, from 0
   * @return {@code configured}
   * @throws IllegalArgumentException if Spark assigned other devices to this rank's task; the
   *     message names both
   */
  public int device(int configured) {
    return bind(OptionalInt.of(configured)).orElseThrow();
  }

  private OptionalInt bind(OptionalInt configured) {
    DeviceBinding binding = binding(configured);
    newWarnings(binding).forEach(warning -> LOG.warn("device of {}: {}", this, warning));
    return binding.device();
  }

  /** Returns the warnings that were not returned before, and marks them as returned. */
  List<String> newWarnings(DeviceBinding binding) {
    return binding.warnings().stream().filter(warned::add).toList();
  }

  /** Returns the device of this rank and its warnings, without logging them. */
  DeviceBinding binding(OptionalInt configured) {
    return DeviceBinding.of(
        configured,
        deviceAddresses,
        System.getenv(DeviceBinding.LOCAL_RANK),
        DeviceBinding.onThisHost());
  }

  /** {@return Spark's id of the executor that runs this rank} */
  public String executorId() {
    return StartedRank.executorId();
  }

  /**
   * {@return whether this rank runs in the executor that holds its shard} Always true in {@link
   * StoreSpec#run}. In {@link ResidentStore#run}, a rank whose executor is lost or has no free slot
   * runs in another executor and reads its own shard remotely.
   */
  public boolean isHome() {
    return started.home();
  }

  /** {@return the host name or address that Spark has registered for the executor} */
  public String host() {
    return StartedRank.host();
  }

  /**
   * {@return a human-readable description of the transport that reads rows outside of shared
   * memory, with the reason for its choice}
   */
  public String transport() {
    return started.remote().description();
  }

  /**
   * {@return the time that this rank took to fetch, decode and pack the rows of its shard, in
   * nanoseconds; 0 if the store is resident}
   */
  public long loadNanos() {
    return started.loadNanos();
  }

  @Override
  public String toString() {
    return "rank %d of %d on executor %s (%s), attempt %d"
        .formatted(rank(), ranks(), executorId(), host(), attempt());
  }
}

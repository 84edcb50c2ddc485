// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.DDStore;
import org.ddstore.Variable;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.collective.Communicator;
import org.ddstore.device.DeviceLoader;
import org.ddstore.loader.Columns;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.Devices;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.WorldRank;
import org.ddstore.spark.cluster.DeviceBinding;
import org.ddstore.spark.hadoop.HadoopStorage;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.job.TaskResources;
import org.ddstore.types.RejectedArgumentException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The view of one rank on the store, its position among the ranks and the collectives. */
public final class RankContext {
  /** The name of the variable that holds the DataFrame. */
  public static final String ROWS = StartedRank.ROWS;

  private static final Logger LOG = LoggerFactory.getLogger(RankContext.class);

  private final StartedRank started;
  private final DDStore store;
  private final List<StoreRows> stores;
  private final TaskResources resources;
  private final List<String> deviceAddresses = StartedRank.deviceAddresses();
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  /**
   * @param stores rows that the task reads, first those of {@code store}
   * @param resources registry of the loaders and checkpoints that the task opens
   */
  RankContext(StartedRank started, DDStore store, List<StoreRows> stores, TaskResources resources) {
    this.started = started;
    this.store = store;
    this.stores = List.copyOf(stores);
    this.resources = resources;
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
   * {@return the rows of a store of {@link DDStores#run}, or of {@link ResidentStore#run}} The
   * variable of another store than the first has no updates, and is closed when the task ends.
   *
   * @param storeName name of the store
   * @throws IllegalArgumentException if the job does not read this store; the message lists those
   *     that it reads
   */
  public Variable rows(String storeName) {
    return storeRows(storeName).rows();
  }

  private StoreRows storeRows(String storeName) {
    Objects.requireNonNull(storeName, "storeName is null");
    return stores.stream()
        .filter(known -> known.store().equals(storeName) && !storeName.isEmpty())
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "the job does not read store \"%s\": give it to DDStores.run(..); stores of the job: %s"
                        .formatted(
                            storeName,
                            stores.stream()
                                .map(StoreRows::store)
                                .filter(known -> !known.isEmpty())
                                .toList())));
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
   * @throws IllegalArgumentException if the device of the options, Spark's assignment, the current
   *     CUDA context and {@code LOCAL_RANK} disagree, or the driver does not have the device; the
   *     message names both
   */
  public Loader loader(BatchSampler sampler, LoaderOptions options) {
    return loader(stores.get(0), sampler, options);
  }

  /**
   * Opens a loader like {@link #loader(BatchSampler, LoaderOptions)}, of the rows of one of the
   * stores of the job.
   *
   * @param storeName name of a store, see {@link #rows(String)}
   * @param sampler a sampler that is equal on all ranks
   * @param options options of the loader
   * @return the loader; the task closes it, or its end does
   * @throws IllegalArgumentException if the job does not read this store
   */
  public Loader loader(String storeName, BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(options, "options is null");
    return loader(storeRows(storeName), sampler, options);
  }

  private Loader loader(StoreRows source, BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    LoaderOptions bound = bound(source, options);
    Loader loader = resources.open(() -> Loader.open(source.rows(), sampler, place(), bound));
    source.loaders().add(loader);
    return loader;
  }

  /**
   * Opens a loader as {@link #loader(BatchSampler, LoaderOptions)}, whose batches are delivered on
   * {@link #device()}, or on the device of the options. {@link DeviceLoader#problem()} tells
   * whether the executor has a device.
   *
   * @param sampler a sampler that is equal on all ranks
   * @param options options of the loader
   * @return the loader; the task closes it, or its end does
   * @throws IllegalArgumentException if the device of the options, Spark's assignment, the current
   *     CUDA context and {@code LOCAL_RANK} disagree, or the driver does not have the device; the
   *     message names both
   * @throws org.ddstore.types.DDStoreException if there is no device, or the driver refuses
   */
  public DeviceLoader deviceLoader(BatchSampler sampler, LoaderOptions options) {
    return deviceLoader(stores.get(0), sampler, options);
  }

  /**
   * Opens a loader like {@link #deviceLoader(BatchSampler, LoaderOptions)}, of the rows of one of
   * the stores of the job.
   *
   * @param storeName name of a store, see {@link #rows(String)}
   * @param sampler a sampler that is equal on all ranks
   * @param options options of the loader
   * @return the loader; the task closes it, or its end does
   * @throws IllegalArgumentException if the job does not read this store
   */
  public DeviceLoader deviceLoader(String storeName, BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(options, "options is null");
    return deviceLoader(storeRows(storeName), sampler, options);
  }

  private DeviceLoader deviceLoader(StoreRows source, BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    LoaderOptions bound = bound(source, options);
    DeviceLoader loader =
        resources.openOnDevice(() -> DeviceLoader.open(source.rows(), sampler, place(), bound));
    source.loaders().add(loader.loader());
    return loader;
  }

  private WorldRank place() {
    return new WorldRank(rank(), ranks());
  }

  private LoaderOptions bound(StoreRows source, LoaderOptions options) {
    Objects.requireNonNull(options, "options is null");
    OptionalInt device = bind(options.device());
    LoaderOptions labelled = options.defaultDigest(source.digest());
    return device.isPresent() ? labelled.defaultDevice(device.getAsInt()) : labelled;
  }

  /**
   * Opens {@link #checkpoints(String, CheckpointOptions)} with {@link
   * CheckpointOptions#defaults()}. Collective.
   *
   * @param directory path of the directory, the same on all ranks
   * @return the checkpoints; the task closes them, or its end does
   */
  public Checkpoints checkpoints(String directory) {
    return checkpoints(directory, CheckpointOptions.defaults());
  }

  /**
   * Opens the checkpoints of all ranks in a directory of any file system that Hadoop serves, such
   * as HDFS or an object store; a local path must be one directory that all hosts share.
   * Collective, blocks. Checkpoints that are still open are closed when the task ends, after the
   * save in the background.
   *
   * @param directory path of the directory, the same on all ranks; without a scheme in the default
   *     file system of Hadoop
   * @param options options of the checkpoints
   * @return the checkpoints; the task closes them, or its end does
   * @throws org.ddstore.checkpoint.CheckpointException if no file system serves the path, or the
   *     storage cannot be used and the options say that ranks throw
   * @throws RejectedArgumentException if the path is blank, or relative and local
   */
  public Checkpoints checkpoints(String directory, CheckpointOptions options) {
    Objects.requireNonNull(directory, "directory is null");
    Objects.requireNonNull(options, "options is null");
    if (directory.isBlank()) {
      throw new RejectedArgumentException(
          "directory of checkpoints is \"%s\": give a path, such as hdfs:///training/digits"
              .formatted(directory));
    }
    return resources.openCheckpoints(
        () -> Checkpoints.open(HadoopStorage.ofTask(directory), communicator(), options));
  }

  /**
   * {@return the columns of {@link #rows()}, from which samplers take weights, costs, classes and
   * subsets of rows} Their methods are collective within this rank's replica group: all ranks call
   * them in the same order. Local.
   */
  public Columns columns() {
    return Columns.of(rows(), started.group());
  }

  /**
   * {@return the columns of one of the stores of the job} Otherwise as {@link #columns()}.
   *
   * @param storeName name of a store, see {@link #rows(String)}
   * @throws IllegalArgumentException if the job does not read this store
   */
  public Columns columns(String storeName) {
    return Columns.of(rows(storeName), started.group());
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
   * {@return the number of the accelerator of this rank: the first address of the resource {@code
   * gpu} that Spark assigned to its task, or empty if no source names a device} The device of the
   * calling thread's current CUDA context and the environment variable {@code LOCAL_RANK} must
   * agree with it, and name the device if Spark assigned none. Logs a warning if the host has
   * several devices and none is named. Local.
   *
   * @throws IllegalArgumentException if the sources disagree, or the driver does not have the
   *     device; the message names both and the remedy
   */
  public OptionalInt device() {
    return bind(OptionalInt.empty());
  }

  /**
   * Checks a device that the user has configured, as {@link #device()}.
   *
   * @param configured number of the device on the host, from 0
   * @return {@code configured}
   * @throws IllegalArgumentException if Spark assigned other devices to this rank's task, the
   *     current CUDA context or {@code LOCAL_RANK} names another, or the driver does not have the
   *     device; the message names both and the remedy
   */
  public int device(int configured) {
    return bind(OptionalInt.of(configured)).orElseThrow();
  }

  private OptionalInt bind(OptionalInt configured) {
    DeviceBinding binding = binding(configured);
    newWarnings(binding).forEach(warning -> LOG.warn("device of {}: {}", this, warning));
    return binding.require();
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
        System.getenv(Devices.LOCAL_RANK),
        Devices.ofThisProcess(),
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

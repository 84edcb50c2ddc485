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

/** What a rank has while its task runs: its place among the ranks, the store and collectives. */
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
   * @param digest of the rows
   * @param loaders that the task opens
   */
  RankContext(StartedRank started, DDStore store, String digest, TaskLoaders loaders) {
    this.started = started;
    this.store = store;
    this.digest = digest;
    this.loaders = loaders;
  }

  /** This rank, of [0, {@link #ranks()}). */
  public int rank() {
    return communicator().rank();
  }

  public int ranks() {
    return communicator().size();
  }

  /** 1 in the first submission of the job, one more in each after a failure. */
  public int attempt() {
    return started.attempt();
  }

  /**
   * The replica group of this rank, of [0, {@link #replicaGroups()}). Its {@code store().ranks()}
   * ranks hold one full copy; this one is rank {@code store().rank()} of them.
   */
  public int replicaGroup() {
    return started.groups().groupOf(rank());
  }

  /** How many copies of the data there are. */
  public int replicaGroups() {
    return ranks() / store.ranks();
  }

  /**
   * The store of this rank's replica group, closed when the task ends; variables of one's own may
   * be added. Its collective methods are called by all ranks of the group. If there are several
   * groups, {@link #rows()} cannot be updated, because a change would not reach the other copies;
   * variables of one's own can, and are the group's.
   */
  public DDStore store() {
    return store;
  }

  /** The rows of the DataFrame: the variable {@value #ROWS} of {@link #store()}. */
  public Variable rows() {
    return store.variable(ROWS);
  }

  /** As {@link #loader(BatchSampler, LoaderOptions)}, with {@link LoaderOptions#defaults()}. */
  public Loader loader(BatchSampler sampler) {
    return loader(sampler, LoaderOptions.defaults());
  }

  /**
   * A loader of this rank's batches of {@link #rows()}. All ranks share an epoch, those of other
   * replica groups too, so its {@link Loader#receipt receipt} is by {@link #communicator()}. Its
   * batches are for {@link #device()}, unless the options name another of those that Spark gave.
   * Its states are bound to the rows, as they were loaded, by their digest. Local. To be closed by
   * the caller; what is left open is closed when the task ends.
   *
   * @param sampler the same on all ranks
   * @throws IllegalArgumentException if the options name a device that Spark did not give to this
   *     rank's task, naming both
   */
  public Loader loader(BatchSampler sampler, LoaderOptions options) {
    Objects.requireNonNull(sampler, "sampler is null");
    Objects.requireNonNull(options, "options is null");
    WorldRank place = new WorldRank(rank(), ranks());
    OptionalInt device = bind(options.device());
    LoaderOptions ofRows = options.withDefaultDigest(digest);
    LoaderOptions bound = device.isPresent() ? ofRows.withDefaultDevice(device.getAsInt()) : ofRows;
    return loaders.open(() -> Loader.open(rows(), sampler, place, bound));
  }

  /**
   * Collectives between all ranks, for the thread that runs the task. If there are several replica
   * groups, those of {@link #store()} are between the ranks of the group. A rank that waits in one
   * of these for a rank that waits for it in one of those gets a {@link
   * org.ddstore.types.CollectiveMismatchException} after a second, as all ranks do.
   */
  public Communicator communicator() {
    return started.ranks();
  }

  /**
   * The accelerator that Spark gave to this rank's task: the first address of the resource {@code
   * gpu}, empty if there is none that is a number. Warns in the log where the environment's {@code
   * LOCAL_RANK} differs, and where the host has several devices and nobody has said which, once
   * each. Local.
   */
  public OptionalInt device() {
    return bind(OptionalInt.empty());
  }

  /**
   * As {@link #device()}, for a device that the user has chosen, which it returns.
   *
   * @param configured its number on the host, from 0
   * @throws IllegalArgumentException if Spark gave others to this rank's task, naming both
   */
  public int device(int configured) {
    return bind(OptionalInt.of(configured)).orElseThrow();
  }

  private OptionalInt bind(OptionalInt configured) {
    DeviceBinding binding = binding(configured);
    newWarnings(binding).forEach(warning -> LOG.warn("{}: {}", this, warning));
    return binding.device();
  }

  /** What this rank has not been warned of yet; from now on it has. */
  List<String> newWarnings(DeviceBinding binding) {
    return binding.warnings().stream().filter(warned::add).toList();
  }

  /** What is said of this rank's device, without a word in the log. */
  DeviceBinding binding(OptionalInt configured) {
    return DeviceBinding.of(
        configured,
        deviceAddresses,
        System.getenv(DeviceBinding.LOCAL_RANK),
        DeviceBinding.onThisHost());
  }

  /** Spark's name of the executor that runs this rank. */
  public String executorId() {
    return StartedRank.executorId();
  }

  /**
   * Whether this rank runs in the executor that holds its shard. Always true in {@link
   * StoreSpec#run}; in {@link ResidentStore#run} a rank whose executor is lost, or has no free slot
   * for it, runs elsewhere, and reads its shard like those of others.
   */
  public boolean isHome() {
    return started.home();
  }

  /** The address of the executor, as Spark knows it. */
  public String host() {
    return StartedRank.host();
  }

  /** How rows are read that memory does not reach, and why so; for people. */
  public String transport() {
    return started.remote().description();
  }

  /**
   * How long this rank took to fetch, decode and pack the rows of its shard, in nanoseconds; 0 if
   * the store is resident.
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

package org.ddstore.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.DDStore;
import org.ddstore.DDStoreException;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.Transport;

/**
 * One rank of one attempt, in its executor: load the shard, meet the other ranks in one allGather,
 * open the store, run the task, leave nothing behind.
 */
final class RankRunner<T> implements Serializable {
  private static final long serialVersionUID = 1L;

  /** What the ranks that run in this JVM have allocated or are about to. */
  private static final AtomicLong EXECUTOR_BYTES = new AtomicLong();

  private final ShardLoader loader;
  private final Settings settings;
  private final RankTask<T> task;
  private final int attempt;
  private final ReplicaGroups groups;
  private final StoreToken token = StoreToken.random();

  RankRunner(
      ShardLoader loader, Settings settings, RankTask<T> task, ReplicaGroups groups, int attempt) {
    this.loader = loader;
    this.settings = settings;
    this.task = task;
    this.groups = groups;
    this.attempt = attempt;
  }

  /** Runs the rank of the calling barrier task. What fails here ends the attempt on all ranks. */
  T run(Iterator<InternalRow> rows) throws Exception {
    BarrierTaskContext context = BarrierTaskContext.get();
    try {
      return run(rows, context);
    } catch (Exception | Error e) {
      if (Echo.isEcho(e, rank(context))) {
        Echo.awaitCause();
      }
      throw e;
    }
  }

  private T run(Iterator<InternalRow> rows, BarrierTaskContext context) throws Exception {
    StoreOptions options = settings.storeOptions();
    long rankBytes = loader.estimatedBytes(rank(context));
    long executorBytes = EXECUTOR_BYTES.addAndGet(rankBytes);
    ProcessDirectory directory = null;
    try {
      directory = ProcessDirectory.acquire(directoryRoot()); // sweeps, so the check comes after it
      checkMemory(context, rankBytes, executorBytes);
      return load(context, options, rows);
    } finally {
      EXECUTOR_BYTES.addAndGet(-rankBytes);
      if (directory != null) {
        directory.release();
      }
    }
  }

  /** Where the lanes lie: beside the segments, or in shared memory if those have no files. */
  private Path directoryRoot() {
    return settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
  }

  private T load(BarrierTaskContext context, StoreOptions options, Iterator<InternalRow> rows)
      throws Exception {
    WireOptions wire = WireOptions.of(SparkEnv.get(), settings.port());
    TransportChoice choice =
        TransportChoice.of(
            settings.transport(),
            rank(context),
            settings.oneSidedOptions(host(), context.partitionId()),
            wire);
    try (WireSession session = Wire.join(token, wire);
        ShardWriter writer = ShardWriter.create(loader.schema(), options);
        GroupEndpoint endpoint = createEndpoint(context, session)) {
      long start = System.nanoTime();
      if (groups.loads(rank(context))) {
        fill(() -> loader.load(rank(context), rows, writer));
      }
      long loadNanos = System.nanoTime() - start;
      String mine = new StartMessage(choice.offer(), endpoint.address()).encode();
      List<StartMessage> all =
          Arrays.stream(context.allGather(mine)).map(StartMessage::decode).toList();
      try (Communicator ranks = connect(context, endpoint, all);
          RemoteRows remote =
              RemoteRows.open(
                  choice,
                  all.stream().map(StartMessage::offer).toList(),
                  session,
                  ranks,
                  groups.groupOf(ranks.rank()),
                  settings.mpiOptions(session.local(), directoryRoot()))) {
        return runInGroup(ranks, remote, options, writer, loadNanos);
      }
    }
  }

  private void fill(Runnable write) {
    try {
      write.run();
    } catch (DDStoreException e) {
      if (e.getCause() instanceof IOException io && MemoryCheck.isFull(io)) {
        throw MemoryCheck.full(e, settings);
      }
      throw e;
    }
  }

  private GroupEndpoint createEndpoint(BarrierTaskContext context, WireSession session)
      throws IOException {
    try {
      return GroupEndpoint.create(
          session.lanes(directoryRoot(), settings.shortcut()), rank(context), ranks(context));
    } catch (IOException e) {
      if (MemoryCheck.isFull(e)) {
        throw MemoryCheck.full(e, settings);
      }
      throw e;
    }
  }

  private void checkMemory(BarrierTaskContext context, long rankBytes, long executorBytes) {
    if (rankBytes == 0) {
      return;
    }
    String ownHost = host(context, rank(context));
    long hostBytes = 0;
    for (int r = 0; r < ranks(context); r++) {
      hostBytes += host(context, r).equals(ownHost) ? loader.estimatedBytes(r) : 0;
    }
    MemoryCheck.check(
        HostFacts.read(directoryRoot()),
        new MemoryCheck.Need(rankBytes, executorBytes, hostBytes),
        settings);
  }

  private Communicator connect(
      BarrierTaskContext context, GroupEndpoint endpoint, List<StartMessage> all)
      throws IOException {
    try {
      return endpoint.connect(
          all.stream().map(StartMessage::endpoint).toList(), settings.collectiveTimeout());
    } catch (IOException e) {
      List<String> hosts =
          Arrays.stream(context.getTaskInfos()).map(info -> info.address()).distinct().toList();
      throw new DDStoreException(
          "rank %d cannot reach all ranks (executors at %s): %s"
              .formatted(rank(context), hosts, e.getMessage()),
          e);
    }
  }

  private T runInGroup(
      Communicator ranks,
      RemoteRows remote,
      StoreOptions options,
      ShardWriter writer,
      long loadNanos)
      throws Exception {
    if (groups.groups() == 1) {
      return runTask(ranks, ranks, remote, options, writer, loadNanos);
    }
    try (Communicator group = ranks.split(groups.groupOf(ranks.rank()))) {
      return runTask(ranks, group, remote, options, writer, loadNanos);
    }
  }

  private T runTask(
      Communicator ranks,
      Communicator group,
      RemoteRows remote,
      StoreOptions options,
      ShardWriter writer,
      long loadNanos)
      throws Exception {
    try (DDStore store = DDStore.open(group, remote.transport(), options);
        TaskLoaders loaders = new TaskLoaders()) {
      try {
        String digest = addShard(ranks, store, remote.forCopies(), options, writer);
        T result =
            task.run(
                new RankContext(
                    attempt,
                    store,
                    digest,
                    ranks,
                    loaders,
                    groups.groupOf(ranks.rank()),
                    deviceAddresses(),
                    SparkEnv.get().executorId(),
                    host(),
                    remote.description(),
                    loadNanos));
        loaders.closeAll(); // they read from others, who wait for us only until we have arrived
        ranks.awaitAll("end of the task", settings.finishTimeout()); // they may still read from us
        remote.end();
        return result;
      } catch (Exception | Error e) {
        ranks.abort(e); // before the closes, which may wait for reads
        throw e;
      }
    }
  }

  /** Adds what was loaded in group 0, and copies of it in the others; returns its digest. */
  private String addShard(
      Communicator ranks,
      DDStore store,
      Transport transport,
      StoreOptions options,
      ShardWriter writer) {
    if (groups.groups() == 1) {
      store.add(RankContext.ROWS, writer);
      return store.digest(RankContext.ROWS);
    }
    ReplicaShards shards = new ReplicaShards(groups, ranks, transport, options);
    fill(() -> shards.add(store, writer));
    return shards.digest(store);
  }

  /** What Spark gave to this task, as it calls it. */
  private static List<String> deviceAddresses() {
    ResourceInformation devices =
        BarrierTaskContext.get().resourcesJMap().get(DeviceBinding.RESOURCE);
    return devices == null ? List.of() : List.of(devices.addresses());
  }

  /** The address at which other processes reach this one. */
  private static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  /** The host of a rank, without the port, which is of no use. */
  private static String host(BarrierTaskContext context, int rank) {
    String address = context.getTaskInfos()[rank].address();
    int port = address.lastIndexOf(':');
    return port < 0 ? address : address.substring(0, port);
  }

  private static int rank(BarrierTaskContext context) {
    return context.partitionId();
  }

  private static int ranks(BarrierTaskContext context) {
    return context.getTaskInfos().length;
  }
}

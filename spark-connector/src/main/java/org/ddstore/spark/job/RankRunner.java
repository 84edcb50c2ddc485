// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.BarrierTaskInfo;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.backend.TransportChoice;
import org.ddstore.spark.backend.TransportStart;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.cluster.LocalDirectory;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.cluster.ShardMemory;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.types.HostFacts;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One rank of one attempt, in its executor: loads the shard, exchanges addresses with the other
 * ranks, runs the body, and frees everything.
 */
final class RankRunner<T> implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(RankRunner.class);

  /** Number of executors that a message names. */
  private static final int MAX_NAMED_HOSTS = 16;

  private final ShardLoader loader;
  private final Settings settings;
  private final RankBody<T> body;
  private final int attempt;
  private final ReplicaGroups groups;
  private final StoreToken rowsToken;

  /** Token of the collectives, and of the rows unless they belong to a resident store. */
  private final StoreToken token = StoreToken.random();

  /**
   * True after this task has reached the start exchange; set in the task's own copy of this object.
   */
  private transient boolean meets;

  /**
   * @param loader loader of the shard; null if nothing is loaded
   * @param rowsToken token of the resident store that is read or loaded; null if there is none
   */
  RankRunner(
      ShardLoader loader,
      Settings settings,
      RankBody<T> body,
      ReplicaGroups groups,
      int attempt,
      StoreToken rowsToken) {
    this.loader = loader;
    this.settings = settings;
    this.body = body;
    this.groups = groups;
    this.attempt = attempt;
    this.rowsToken = rowsToken;
  }

  /** Returns the token of the collectives of this attempt. */
  StoreToken token() {
    return token;
  }

  /** Runs the rank of the calling barrier task. A failure ends the attempt on all ranks. */
  T run(Iterator<InternalRow> rows) throws Exception {
    BarrierTaskContext context = BarrierTaskContext.get();
    long start = System.nanoTime();
    try {
      return run(rows, context);
    } catch (Exception | Error e) {
      if (!meets) {
        noteFailure(settings.transport(), e, rank(context));
      }
      if (SecondaryFailure.isConsequence(e, rank(context))) {
        SecondaryFailure.awaitCause();
      } else if (e instanceof IngestException) {
        long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        SecondaryFailure.awaitEarlierRows(rank(context), ranks(context), elapsedMs);
      }
      throw e;
    }
  }

  /**
   * Notes on a failure that its rank had not reached the start exchange; keeps it if that fails.
   */
  static void noteFailure(String transport, Throwable failure, int rank) {
    try {
      TransportBackends.configured(transport)
          .ifPresent(backend -> backend.failedBeforeStart(failure, rank));
    } catch (RuntimeException | Error e) {
      if (e != failure) {
        failure.addSuppressed(e);
      }
    }
  }

  private T run(Iterator<InternalRow> rows, BarrierTaskContext context) throws Exception {
    StoreOptions options = settings.storeOptions();
    long rankBytes = loader == null ? 0 : loader.estimatedBytes(rank(context));
    long executorBytes = ShardMemory.addLoading(rankBytes);
    ProcessDirectory directory = null;
    try {
      checkDirectory();
      directory = acquireDirectory(); // frees files of dead processes before the check
      checkMemory(context, rankBytes, executorBytes);
      return load(context, options, rows);
    } finally {
      ShardMemory.addLoading(-rankBytes);
      if (directory != null) {
        directory.release();
      }
    }
  }

  private ProcessDirectory acquireDirectory() {
    try {
      return ProcessDirectory.acquire(directoryRoot());
    } catch (DDStoreException e) {
      MemoryCheck.checkDirectory(settings);
      throw e;
    }
  }

  /** Returns the directory of the lanes: that of the segments, or shared memory without one. */
  private Path directoryRoot() {
    return settings.segmentDirectory().orElse(ProcessDirectory.SHARED_MEMORY);
  }

  private T load(BarrierTaskContext context, StoreOptions options, Iterator<InternalRow> rows)
      throws Exception {
    WireOptions wire = WireOptions.of(SparkEnv.get(), settings.port());
    TransportChoice choice =
        TransportChoice.of(
            settings.transport(),
            new RankPlace(
                rank(context),
                StartedRank.host(),
                processOnHost(context),
                wire.isEncrypted(),
                settings));
    try (WireSession session = Wire.join(token, wire);
        WireSession rowsSession = rowsToken == null ? null : Wire.join(rowsToken, wire);
        ShardWriter writer = loader == null ? null : ShardWriter.create(loader.schema(), options);
        GroupEndpoint endpoint = createEndpoint(context, session)) {
      long start = System.nanoTime();
      if (writer != null && groups.loads(rank(context))) {
        MemoryCheck.naming(settings, () -> loader.load(rank(context), rows, writer));
        // Not the rows of other ranks in the same partition, nor stored chunks instead of rows.
        context.taskMetrics().inputMetrics().setRecordsRead(writer.rows());
      }
      long loadNanos = System.nanoTime() - start;
      byte[] ownMessage = new StartMessage(choice.offer(), endpoint.address()).encode();
      meets = true;
      List<StartMessage> all =
          StartExchange.allGather(context, token, ownMessage).stream()
              .map(StartMessage::decode)
              .collect(Collectors.toCollection(ArrayList::new));
      WireSession forRows = rowsSession == null ? session : rowsSession;
      try (Communicator ranks = connect(context, endpoint, all);
          OpenTransport remote =
              choice.open(
                  all.stream().map(StartMessage::offer).toList(),
                  new TransportStart(
                      forRows,
                      ranks,
                      groups.groupOf(ranks.rank()),
                      settings.readTimeout(),
                      settings.collectiveTimeout()))) {
        all.clear(); // every rank of the process has them all
        return runInGroup(
            new StartedRank(
                attempt,
                settings,
                groups,
                ranks,
                ranks,
                remote,
                forRows,
                options,
                writer,
                writer == null ? 0 : loadNanos,
                true));
      }
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

  private void checkDirectory() {
    HostFacts host = HostProbe.read(directoryRoot());
    LocalDirectory.problem(host)
        .ifPresent(
            problem -> {
              throw new PreflightException(
                  "cannot keep segment files on %s:".formatted(host.hostName()), List.of(problem));
            });
    LocalDirectory.warning(host).ifPresent(LOG::warn);
  }

  private void checkMemory(BarrierTaskContext context, long rankBytes, long executorBytes) {
    if (rankBytes == 0) {
      return;
    }
    List<String> addresses = addresses(context);
    String ownHost = host(addresses.get(rank(context)));
    long hostBytes = 0;
    for (int r = 0; r < addresses.size(); r++) {
      hostBytes += host(addresses.get(r)).equals(ownHost) ? loader.estimatedBytes(r) : 0;
    }
    HostFacts host = HostProbe.read(directoryRoot());
    int executors = HostProbe.executorsUnderLimit(host);
    boolean allShareTheLimit =
        executors >= processesOnHost(addresses, addresses.get(rank(context))).size();
    MemoryCheck.check(
        host,
        new MemoryCheck.Need(
            rankBytes,
            allShareTheLimit ? Math.max(hostBytes, executorBytes) : executorBytes,
            hostBytes,
            ShardMemory.residentBytes(),
            executors),
        settings);
  }

  private Communicator connect(
      BarrierTaskContext context, GroupEndpoint endpoint, List<StartMessage> all)
      throws IOException {
    try {
      return endpoint.connect(
          all.stream().map(StartMessage::endpoint).toList(), settings.collectiveTimeout());
    } catch (IOException e) {
      List<String> hosts = addresses(context).stream().distinct().limit(MAX_NAMED_HOSTS).toList();
      throw new DDStoreException(
          "rank %d cannot reach all ranks (executors at %s): %s"
              .formatted(rank(context), hosts, e.getMessage()),
          e);
    }
  }

  private T runInGroup(StartedRank rank) throws Exception {
    if (groups.groups() == 1) {
      return body.run(rank);
    }
    try (Communicator group = rank.ranks().split(groups.groupOf(rank.rank()))) {
      return body.run(rank.in(group));
    }
  }

  /** Returns host and port of the executor of each rank; Spark parses them in each call. */
  private static List<String> addresses(BarrierTaskContext context) {
    return Arrays.stream(context.getTaskInfos()).map(BarrierTaskInfo::address).toList();
  }

  private static String host(String address) {
    int port = address.lastIndexOf(':');
    return port < 0 ? address : address.substring(0, port);
  }

  private static int processOnHost(BarrierTaskContext context) {
    List<String> addresses = addresses(context);
    String own = addresses.get(rank(context));
    return processesOnHost(addresses, own).indexOf(own);
  }

  /** Returns the addresses of the executors of a host that have ranks, by their first rank. */
  private static List<String> processesOnHost(List<String> addresses, String ofHost) {
    String host = host(ofHost);
    return addresses.stream().filter(other -> host(other).equals(host)).distinct().toList();
  }

  private static int rank(BarrierTaskContext context) {
    return context.partitionId();
  }

  private static int ranks(BarrierTaskContext context) {
    return context.getTaskInfos().length;
  }
}

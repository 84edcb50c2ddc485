// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last report of each executor that holds or held rows of a store, and the history of the sums
 * of their reads. The reports of ended executors stay. Used on the driver. Thread-safe.
 */
public final class ExecutorReports {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorReports.class);

  /** Number of samples that are kept: one hour at one each 10 s. */
  private static final int MAX_SAMPLES = 360;

  /** Number of executors without rows that are asked. */
  private static final int MAX_VISITS = 4_096;

  /** Time limit of executors without rows in {@link #await}. */
  private static final Duration VISIT_LIMIT = Duration.ofSeconds(2);

  /** Number of reports of executors without rows that are kept. */
  private static final int MAX_FORMER = 256;

  private static final long NO_VERSION = 0;
  static final String DRIVER = "driver";

  private final Nonce store;
  private final String name;
  private final ResidentPlaces places;
  private final ResidentProcesses processes;
  private final Map<String, Report> reports = new TreeMap<>(); // by executor; guarded by this
  private final Set<String> malformed = new HashSet<>(); // executors; guarded by this
  private final Map<String, VisitRegistration> visits = new TreeMap<>(); // guarded by this
  private final Map<String, List<ReaderStatistics>> earlierVisits = new HashMap<>(); // as well
  private final Deque<ReadSample> samples = new ArrayDeque<>(); // guarded by this

  /** Reads of reports that are no longer kept, by path. Guarded by this. */
  private final List<ReadCount> forgotten = new ArrayList<>(ReadCount.none());

  /**
   * @param version version of the layout when the report was requested
   */
  private record Report(String host, long version, long answeredMs, ExecutorCounters counters) {
    /** Returns the report of an executor that has ended: without leases and connections. */
    Report ended() {
      List<OutsideStatistics> outside =
          counters.outside().stream()
              .map(o -> new OutsideStatistics(o.label(), 0, o.requests(), o.rows(), o.bytes()))
              .toList();
      return new Report(
          host,
          version,
          answeredMs,
          new ExecutorCounters(0, 0, 0, 0, counters.servedRequests(), counters.readers(), outside));
    }

    /** Returns the report of an executor that held this when it was requested. */
    ExecutorStatistics of(ExecutorStatistics holding, long layoutVersion) {
      boolean isCurrent = version == layoutVersion;
      return new ExecutorStatistics(
          holding.executorId(),
          holding.host().isEmpty() ? host : holding.host(),
          holding.ranks(),
          isCurrent ? counters.shards() : holding.shards(),
          isCurrent ? counters.rows() : holding.rows(),
          isCurrent ? counters.bytes() : holding.bytes(),
          counters.leases(),
          counters.servedRequests(),
          answeredMs,
          counters.readers(),
          counters.outside());
    }
  }

  public ExecutorReports(
      Nonce store, String name, ResidentPlaces places, ResidentProcesses processes) {
    this.store = store;
    this.name = name;
    this.places = places;
    this.processes = processes;
    if (!ResidentShards.holds(store)) { // else there is one process
      processes.serve(this::visited);
    }
  }

  /** Answers the registration of an executor that reads and holds no rows. */
  private ByteBuffer visited(ByteBuffer request) {
    VisitRegistration visit = VisitRegistration.parse(request);
    String id = visit.executorId();
    synchronized (this) {
      VisitRegistration last = visits.get(id);
      boolean isRepeated = last != null && last.visit().equals(visit.visit());
      if (!isRepeated && (last != null || visits.size() < MAX_VISITS)) {
        Report ended = reports.get(id);
        if (ended != null) {
          earlierVisits.put(id, ended.counters().readers());
        }
        visits.put(id, visit);
      }
    }
    return ByteBuffer.allocate(0);
  }

  /** Returns the live executors that read and hold no rows. */
  private synchronized Map<String, ProcessAddress> visitors() {
    visits.keySet().removeIf(id -> !places.serves(id));
    Map<String, ProcessAddress> processesById = new TreeMap<>();
    visits.forEach((id, visit) -> processesById.put(id, visit.process()));
    return processesById;
  }

  /** Tells executors that hold no rows that the store is dropped. Does not wait. */
  public void endVisits() {
    visitors().values().forEach(processes::endVisit);
  }

  /**
   * Requests the reports of all executors that may hold rows. Does not block.
   *
   * @return completes when all have answered or ended, or the limit has passed; does not fail
   */
  public CompletableFuture<Void> refresh(Duration limit) {
    Map<String, ProcessAddress> all = visitors();
    all.putAll(places.servedById());
    return refresh(all, limit);
  }

  private CompletableFuture<Void> refresh(Map<String, ProcessAddress> asked, Duration limit) {
    return CompletableFuture.allOf(
        request(asked, limit).values().stream()
            .map(answer -> answer.exceptionally(e -> null))
            .toArray(CompletableFuture[]::new));
  }

  /**
   * Requests the reports of all executors that hold rows, and waits for them; for those of other
   * executors that read at most two seconds.
   *
   * @throws DeadlineExceededException if an executor does not answer within the limit
   * @throws DDStoreException if an executor refuses, or the thread is interrupted
   */
  public void await(Duration limit) {
    Map<String, ProcessAddress> holders = places.now().processes();
    Map<String, ProcessAddress> others = visitors();
    others.keySet().removeAll(holders.keySet());
    CompletableFuture<Void> reads = refresh(others, VISIT_LIMIT);
    request(holders, limit)
        .forEach((id, answer) -> await("executor %s at %s".formatted(id, holders.get(id)), answer));
    reads.join();
  }

  private static void await(String executor, CompletableFuture<Void> answer) {
    try {
      answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for the report of " + executor, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new DeadlineExceededException("no answer from " + executor, e);
      }
      if (!(e.getCause() instanceof PeerGoneException)) { // an ended process holds no rows
        throw new DDStoreException("no report of %s: %s".formatted(executor, e.getCause()), e);
      }
    }
  }

  private Map<String, CompletableFuture<Void>> request(
      Map<String, ProcessAddress> holders, Duration limit) {
    Map<String, CompletableFuture<Void>> answers = new TreeMap<>();
    holders.forEach((id, process) -> answers.put(id, request(id, process, limit)));
    return answers;
  }

  private CompletableFuture<Void> request(String id, ProcessAddress process, Duration limit) {
    long version = places.now().version();
    return processes
        .counters(process, limit)
        .thenAccept(answer -> record(id, process.host(), version, answer))
        .whenComplete(
            (none, e) -> {
              if (e != null && e.getCause() instanceof PeerGoneException) {
                visitEnded(id);
              }
            });
  }

  private synchronized void visitEnded(String id) {
    visits.remove(id);
  }

  /** Keeps a report. A malformed one is logged once and not kept. */
  private synchronized void record(String id, String host, long version, ByteBuffer answer) {
    try {
      ExecutorCounters counters =
          ExecutorCounters.parse(answer).plus(earlierVisits.getOrDefault(id, List.of()));
      reports.put(id, new Report(host, version, System.currentTimeMillis(), counters));
    } catch (DDStoreException e) {
      if (malformed.add(id)) {
        LOG.warn("store \"{}\": executor {}: {}", name, id, e.getMessage());
      }
    }
  }

  /**
   * Returns what executors hold and read, by their first rank; executors without rows follow, and
   * the driver if it reads. Does not block.
   *
   * @param layout current layout of the store
   */
  public List<ExecutorStatistics> executors(ResidentLayout layout) {
    Map<String, Report> former;
    synchronized (this) {
      former = new TreeMap<>(reports);
    }
    List<ExecutorStatistics> all = new ArrayList<>();
    for (ExecutorStatistics holding : layout.holdings()) {
      Report report = former.remove(holding.executorId());
      all.add(report == null ? holding : report.of(holding, layout.version()));
    }
    former.forEach(
        (id, report) -> {
          Report last = places.serves(id) ? report : report.ended();
          all.add(last.of(withoutRows(id), NO_VERSION));
        });
    List<ReaderStatistics> own = readersOfDriver();
    if (!own.isEmpty()) {
      ExecutorCounters counters = new ExecutorCounters(0, 0, 0, 0, 0, own, List.of());
      all.add(
          new Report(processes.local().host(), NO_VERSION, System.currentTimeMillis(), counters)
              .of(withoutRows(DRIVER), NO_VERSION));
    }
    return all;
  }

  private static ExecutorStatistics withoutRows(String id) {
    return new ExecutorStatistics(id, "", List.of(), 0, 0, 0, 0, 0, 0, List.of(), List.of());
  }

  /**
   * Returns the reads of the driver; none if it holds rows, because it then reports like others.
   */
  private List<ReaderStatistics> readersOfDriver() {
    return ResidentShards.holds(store) ? List.of() : StoreMetrics.readers(store);
  }

  /** Adds a sample of the sums of all reports, and forgets the oldest of ended executors. */
  public void sample() {
    List<ReaderStatistics> own = readersOfDriver();
    Set<String> served = places.servedById().keySet();
    synchronized (this) {
      forgetFormer(served);
      List<ReadCount> sums = new ArrayList<>(forgotten);
      reports.values().forEach(report -> add(report.counters().readers(), sums));
      add(own, sums);
      if (samples.size() == MAX_SAMPLES) {
        samples.removeFirst();
      }
      samples.addLast(
          new ReadSample(
              System.currentTimeMillis(),
              sums.stream().map(ReadCount::calls).toList(),
              sums.stream().map(ReadCount::rows).toList(),
              sums.stream().map(ReadCount::bytes).toList()));
    }
  }

  private static void add(List<ReaderStatistics> readers, List<ReadCount> sums) {
    for (ReaderStatistics reader : readers) {
      for (int path = 0; path < sums.size(); path++) {
        sums.set(path, sums.get(path).plus(reader.reads().get(path)));
      }
    }
  }

  /** Called under this. */
  private void forgetFormer(Set<String> served) {
    List<String> former = new ArrayList<>(reports.keySet());
    former.removeAll(served);
    former.removeIf(id -> visits.containsKey(id));
    former.sort(Comparator.comparingLong(id -> reports.get(id).answeredMs()));
    for (String id : former.subList(0, Math.max(0, former.size() - MAX_FORMER))) {
      add(reports.remove(id).counters().readers(), forgotten);
      earlierVisits.remove(id);
    }
  }

  /** Returns the last samples, oldest first. */
  public synchronized List<ReadSample> samples() {
    return List.copyOf(samples);
  }
}

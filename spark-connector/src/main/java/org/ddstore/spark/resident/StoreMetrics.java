// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;
import org.ddstore.LatencyHistogram;
import org.ddstore.ReadStatistics;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.types.ReadPath;

/**
 * The reads of resident stores in this process, as Spark metrics {@code ddstore.<store>.<reader>.}
 * and one of {@code <path>.rows}, {@code <path>.bytes}, {@code <path>.calls}, {@code
 * latency.count}, {@code latency.p50Nanos}, {@code latency.p99Nanos}, {@code loader.batches},
 * {@code loader.waitNanos}, {@code loader.idleNanos}, {@code loader.readNanos} and {@code
 * loader.computeNanos}. A reader is {@code rank<r>}, {@code scan} or {@code attached}. The
 * configured sinks of the process receive them together with Spark's own metrics. They exist from
 * the first read to the end of the store, or, in a process without shards of the store, to the end
 * of its last reader. The driver shows the reads of all ranks in all runs under the same names,
 * without their times, because its web pages show only its own metrics. Thread-safe.
 */
public final class StoreMetrics {
  private static final Map<Nonce, StoreMetrics> BY_STORE = new HashMap<>(); // guarded by itself

  /** The metrics of visits without a reader at present. Guarded by BY_STORE. */
  private static final Map<Nonce, StoreMetrics> LEFT = new HashMap<>();

  static final String ATTACHED = "attached";

  private static final String RANK = "rank";

  /** The order of names of readers that puts rank 10 after rank 9. */
  private static final Comparator<String> BY_NUMBER =
      Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

  private final Nonce store;
  private final StoreSource source;
  private final boolean isOfDriver;
  private final Map<String, ReaderCounts> readers = new HashMap<>(); // guarded by BY_STORE
  private int watches; // guarded by BY_STORE

  private StoreMetrics(StoreSnapshot store, boolean isOfDriver) {
    this.store = store.token().id();
    this.source = new StoreSource("ddstore." + store.name(), new MetricRegistry());
    this.isOfDriver = isOfDriver;
  }

  /** A handle that ends the count of a reader. */
  public interface Watch extends AutoCloseable {
    /** Keeps the counts of the reader and stops polling it. Idempotent. */
    @Override
    void close();
  }

  /**
   * Counts a reader until the returned handle is closed.
   *
   * @param reader kind of the reader, one word
   * @param counters its counters so far
   */
  public static Watch watch(StoreSnapshot store, String reader, ReaderCounters counters) {
    StoreMetrics metrics;
    ReaderCounts counts;
    synchronized (BY_STORE) {
      StoreMetrics known = BY_STORE.get(store.token().id());
      metrics = known == null ? open(visitOf(store)) : known;
      metrics.watches++;
      counts = metrics.counts(reader);
    }
    counts.begin(counters);
    if (!metrics.isHome()) {
      Visit.begin(store);
    }
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        counts.end(counters);
        metrics.leave();
      }
    };
  }

  /**
   * Returns new metrics with the counts of the present visit. They need a new registry, because
   * Spark keeps observing the one that it has withdrawn.
   */
  private static StoreMetrics visitOf(StoreSnapshot store) {
    StoreMetrics made = new StoreMetrics(store, false);
    StoreMetrics left = LEFT.remove(store.token().id());
    if (left != null) {
      made.readers.putAll(left.readers);
      made.readers.forEach(made::publish);
    }
    return made;
  }

  /** Counts loaders of an attached reader, whose reads are counted by its attachment. */
  public static Watch watchAttached(StoreSnapshot store, LoaderWatch loaders) {
    return watch(
        store,
        ATTACHED,
        new ReaderCounters() {
          @Override
          public List<ReadStatistics> reads() {
            return List.of();
          }

          @Override
          public LoaderTimes loader() {
            return loaders.times();
          }
        });
  }

  /**
   * Shows on the driver the reads of ranks in completed runs, until {@link #remove}. Does nothing
   * if this process holds the shards, because its ranks count themselves.
   */
  public static void show(StoreSnapshot store, ResidentReads reads) {
    if (ResidentShards.holds(store.token().id())) {
      return;
    }
    synchronized (BY_STORE) {
      StoreMetrics metrics = open(new StoreMetrics(store, true));
      for (int r = 0; r < reads.ranks(); r++) {
        int rank = r;
        metrics.counts(RANK + rank).begin(() -> reads.ofRank(rank));
      }
    }
  }

  /** Removes one watch. Without shards or the driver's role, the last watch ends the metrics. */
  private void leave() {
    synchronized (BY_STORE) {
      if (--watches == 0 && !isHome() && BY_STORE.remove(store, this)) {
        withdraw();
        if (Visit.isOpen(store)) {
          LEFT.put(store, this);
          Visit.leaveLater(this, store);
        }
      }
    }
  }

  /** Forgets these counts of a visit; false if a reader has continued them. */
  boolean forgetIfLeft() {
    synchronized (BY_STORE) {
      return LEFT.remove(store, this);
    }
  }

  /** Forgets the counts of a visit that has ended. */
  static void forgetLeft(Nonce store) {
    synchronized (BY_STORE) {
      LEFT.remove(store);
    }
  }

  /** Returns whether this process learns of the drop of the store. */
  private boolean isHome() {
    return isOfDriver || ResidentShards.holds(store);
  }

  private ReaderCounts counts(String reader) {
    ReaderCounts counts = readers.get(reader);
    if (counts == null) {
      counts = new ReaderCounts();
      readers.put(reader, counts);
      publish(reader, counts);
    }
    return counts;
  }

  /**
   * Registers metrics, and ends those of an earlier store of the same name. Late readers of a
   * replaced store are not registered, so their counts are not visible.
   */
  private static StoreMetrics open(StoreMetrics made) {
    Optional<StoreMetrics> other =
        BY_STORE.values().stream()
            .filter(known -> known.source.sourceName().equals(made.source.sourceName()))
            .findAny();
    if (other.isPresent()) {
      if (other.get().isHome() && !made.isHome()) {
        return made;
      }
      BY_STORE.remove(other.get().store);
      other.get().withdraw();
    }
    SparkEnv env = SparkEnv.get();
    if (env != null) { // else Spark has ended
      env.metricsSystem().registerSource(made.source);
    }
    BY_STORE.put(made.store, made);
    return made;
  }

  /** Adds the gauges of a reader; Spark observes the registry, so they appear immediately. */
  private void publish(String reader, ReaderCounts counts) {
    for (ReadPath path : ReadPath.values()) {
      String prefix = reader + "." + path.name().toLowerCase(Locale.ROOT) + ".";
      gauge(prefix + "rows", () -> counts.sum(path).rows());
      gauge(prefix + "bytes", () -> counts.sum(path).bytes());
      gauge(prefix + "calls", () -> counts.sum(path).calls());
    }
    if (isOfDriver && reader.startsWith(RANK)) {
      return; // their times are known where they run
    }
    gauge(reader + ".latency.count", () -> counts.latency().count());
    gauge(reader + ".latency.p50Nanos", () -> counts.latency().quantileNanos(0.5));
    gauge(reader + ".latency.p99Nanos", () -> counts.latency().quantileNanos(0.99));
    gauge(reader + ".loader.batches", () -> counts.loader().batches());
    gauge(reader + ".loader.waitNanos", () -> counts.loader().waitNanos());
    gauge(reader + ".loader.idleNanos", () -> counts.loader().idleNanos());
    gauge(reader + ".loader.readNanos", () -> counts.loader().readNanos());
    gauge(reader + ".loader.computeNanos", () -> counts.loader().computeNanos());
  }

  private void gauge(String name, Gauge<Long> value) {
    source.metricRegistry().register(name, value);
  }

  private void withdraw() {
    SparkEnv env = SparkEnv.get();
    if (env != null) { // else Spark has ended, and its metrics with it
      env.metricsSystem().removeSource(source.removal());
    }
  }

  /**
   * Returns the reads of a store in this process, by kind of reader. The driver leaves out those of
   * ranks, which count where they run.
   */
  static List<ReaderStatistics> readers(Nonce store) {
    Map<String, ReaderCounts> counts = new TreeMap<>(BY_NUMBER);
    synchronized (BY_STORE) {
      StoreMetrics metrics = BY_STORE.getOrDefault(store, LEFT.get(store));
      if (metrics == null) {
        return List.of();
      }
      counts.putAll(metrics.readers);
      if (metrics.isOfDriver) {
        counts.keySet().removeIf(reader -> reader.startsWith(RANK));
      }
    }
    return counts.entrySet().stream()
        .map(reader -> reader.getValue().statistics(reader.getKey()))
        .toList();
  }

  /** Ends the metrics of a store that is dropped or has no more shards in this process. */
  public static void remove(Nonce store) {
    synchronized (BY_STORE) {
      StoreMetrics metrics = BY_STORE.remove(store);
      if (metrics != null) {
        metrics.withdraw();
      }
    }
  }

  /** The read counts of all readers of one kind, both ended and active. */
  private static final class ReaderCounts {
    private final Map<ReadPath, ReadStatistics> ended = new EnumMap<>(ReadPath.class);
    private LatencyHistogram endedLatency = LatencyHistogram.none();
    private LoaderTimes endedLoader = LoaderTimes.none();
    private final List<ReaderCounters> reading = new ArrayList<>();

    ReaderCounts() {
      for (ReadPath path : ReadPath.values()) {
        ended.put(path, ReadStatistics.none(path));
      }
    }

    synchronized void begin(ReaderCounters reader) {
      reading.add(reader);
    }

    synchronized void end(ReaderCounters reader) {
      if (reading.remove(reader)) {
        reader.reads().forEach(last -> ended.merge(last.path(), last, ReadStatistics::plus));
        endedLatency = endedLatency.plus(reader.latency());
        endedLoader = endedLoader.plus(reader.loader());
      }
    }

    synchronized ReaderStatistics statistics(String reader) {
      return new ReaderStatistics(
          reader,
          Arrays.stream(ReadPath.values()).map(path -> ReadCount.of(sum(path))).toList(),
          latency(),
          loader());
    }

    synchronized LatencyHistogram latency() {
      return reading.stream()
          .map(ReaderCounters::latency)
          .reduce(endedLatency, LatencyHistogram::plus);
    }

    synchronized LoaderTimes loader() {
      return reading.stream().map(ReaderCounters::loader).reduce(endedLoader, LoaderTimes::plus);
    }

    synchronized ReadStatistics sum(ReadPath path) {
      ReadStatistics sum = ended.get(path);
      for (ReaderCounters reader : reading) {
        for (ReadStatistics now : reader.reads()) {
          sum = now.path() == path ? sum.plus(now) : sum;
        }
      }
      return sum;
    }
  }

  /** The metrics source of a store. Two sources are equal if they have the same registry. */
  private record StoreSource(String sourceName, MetricRegistry metricRegistry) implements Source {

    /**
     * Returns the source to pass to Spark for removal. Spark removes all metrics whose names begin
     * with the name of the source, so without the final dot, the removal of "train" would also
     * remove "train_val".
     */
    StoreSource removal() {
      return new StoreSource(sourceName + ".", metricRegistry);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof StoreSource that && isRegistry(that.metricRegistry);
    }

    @SuppressWarnings("ReferenceEquality") // registries are compared by identity
    private boolean isRegistry(MetricRegistry registry) {
      return metricRegistry == registry;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(metricRegistry);
    }
  }
}

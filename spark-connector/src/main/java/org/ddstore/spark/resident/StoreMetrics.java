package org.ddstore.spark.resident;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkEnv;
import org.ddstore.ReadStatistics;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ReadPath;

/**
 * What this process reads of resident stores, as metrics of Spark: {@code
 * ddstore.<store>.<reader>.<path>.rows}, {@code .bytes} and {@code .calls}, where a reader is
 * {@code rank<r>}, {@code scan} or {@code attached}. The sinks that are configured for the process
 * have them beside Spark's own. They count from the first read on, and end with the store; in a
 * process that holds nothing of it, with its last reader there. The driver has what ranks have read
 * in all runs under the same names, because its pages show its own metrics alone. Any thread.
 */
public final class StoreMetrics {
  private static final Map<Nonce, StoreMetrics> BY_STORE = new HashMap<>(); // guarded by itself

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

  /** The end of a reader's count. */
  public interface Watch extends AutoCloseable {
    /** Keeps what was counted, and asks no more. Idempotent. */
    @Override
    void close();
  }

  /**
   * Counts a reader until it is closed.
   *
   * @param reader the kind of it, one word
   * @param counters what it has read so far, by path; asked by any thread
   */
  public static Watch watch(
      StoreSnapshot store, String reader, Supplier<List<ReadStatistics>> counters) {
    StoreMetrics metrics;
    ReaderCounts counts;
    synchronized (BY_STORE) {
      StoreMetrics known = BY_STORE.get(store.token().id());
      metrics = known == null ? open(new StoreMetrics(store, false)) : known;
      metrics.watches++;
      counts = metrics.counts(reader);
    }
    counts.begin(counters);
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        counts.end(counters);
        metrics.leave();
      }
    };
  }

  /**
   * Shows on the driver what ranks have read in the runs that have ended, until {@link #remove}.
   * Does nothing where this process has the shards: its ranks count by themselves.
   */
  public static void show(StoreSnapshot store, ResidentReads reads) {
    if (ResidentShards.holds(store.token().id())) {
      return;
    }
    synchronized (BY_STORE) {
      StoreMetrics metrics = open(new StoreMetrics(store, true));
      for (int r = 0; r < reads.ranks(); r++) {
        int rank = r;
        metrics.counts("rank" + rank).begin(() -> reads.ofRank(rank));
      }
    }
  }

  /** One watch less. Who drops the store ends the metrics where it is, and nobody else will. */
  private void leave() {
    synchronized (BY_STORE) {
      if (--watches == 0 && !isHome() && BY_STORE.remove(store, this)) {
        withdraw();
      }
    }
  }

  /** Whether this process will hear when the store is dropped. */
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
   * One that has taken the name of another ends the metrics of that one. Late readers of a store
   * that was replaced do not: nobody sees what they count.
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

  /** Spark follows the registry of a source, so it has these at once. */
  private void publish(String reader, ReaderCounts counts) {
    for (ReadPath path : ReadPath.values()) {
      String prefix = reader + "." + path.name().toLowerCase(Locale.ROOT) + ".";
      gauge(prefix + "rows", path, counts, ReadStatistics::rows);
      gauge(prefix + "bytes", path, counts, ReadStatistics::bytes);
      gauge(prefix + "calls", path, counts, ReadStatistics::calls);
    }
  }

  private void gauge(
      String name, ReadPath path, ReaderCounts counts, ToLongFunction<ReadStatistics> counter) {
    Gauge<Long> gauge = () -> counter.applyAsLong(counts.sum(path));
    source.metricRegistry().register(name, gauge);
  }

  private void withdraw() {
    SparkEnv env = SparkEnv.get();
    if (env != null) { // else Spark has ended, and its metrics with it
      env.metricsSystem().removeSource(source.removal());
    }
  }

  /** Ends the metrics of a store that is dropped, or of which this process holds nothing more. */
  public static void remove(Nonce store) {
    synchronized (BY_STORE) {
      StoreMetrics metrics = BY_STORE.remove(store);
      if (metrics != null) {
        metrics.withdraw();
      }
    }
  }
}

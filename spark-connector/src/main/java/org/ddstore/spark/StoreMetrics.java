package org.ddstore.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;
import org.ddstore.ReadPath;
import org.ddstore.ReadStatistics;
import org.ddstore.memory.Nonce;

/**
 * What this process reads of resident stores, as metrics of Spark: {@code
 * ddstore.<store>.<reader>.<path>.rows}, {@code .bytes} and {@code .calls}, where a reader is
 * {@code rank<r>} or {@code scan}. The sinks that are configured for the process have them beside
 * Spark's own; the page of executors that {@code spark.ui.prometheus.enabled} adds to the driver
 * has not, because it shows no registry. They count from the first read on, and end with the store;
 * in a process that holds nothing of it, with its last reader there. Any thread.
 */
public final class StoreMetrics {
  private static final Map<Nonce, StoreMetrics> BY_STORE = new HashMap<>(); // guarded by itself

  private final StoreSource source;
  private final Map<String, ReaderCounts> readers = new HashMap<>(); // guarded by BY_STORE
  private int watches; // guarded by BY_STORE

  private StoreMetrics(String sourceName) {
    source = new StoreSource(sourceName, new MetricRegistry());
  }

  /** The same source as another if it has the same registry, whatever it is called. */
  private record StoreSource(String sourceName, MetricRegistry metricRegistry) implements Source {

    /**
     * What Spark is to remove: it takes away all metrics whose names begin with the source's, and
     * without the dot that ends it those of "train" would take those of "train_val" with them.
     */
    StoreSource removal() {
      return new StoreSource(sourceName + ".", metricRegistry);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof StoreSource that && isRegistry(that.metricRegistry);
    }

    @SuppressWarnings("ReferenceEquality") // a registry is itself alone
    private boolean isRegistry(MetricRegistry registry) {
      return metricRegistry == registry;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(metricRegistry);
    }
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
      StoreHandle store, String reader, Supplier<List<ReadStatistics>> counters) {
    StoreMetrics metrics;
    ReaderCounts counts;
    synchronized (BY_STORE) {
      metrics = of(store);
      metrics.watches++;
      counts = metrics.counts(reader);
    }
    counts.begin(counters);
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        counts.end(counters);
        metrics.leave(store.token().id());
      }
    };
  }

  /** One watch less. Who drops shards ends the metrics, and nobody else will. */
  private void leave(Nonce store) {
    synchronized (BY_STORE) {
      if (--watches == 0 && !ResidentShards.holds(store) && BY_STORE.remove(store, this)) {
        withdraw();
      }
    }
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

  /** One that has taken the name of another ends the metrics of that one. */
  private static StoreMetrics of(StoreHandle store) {
    StoreMetrics known = BY_STORE.get(store.token().id());
    if (known != null) {
      return known;
    }
    String sourceName = "ddstore." + store.name();
    BY_STORE.values().stream()
        .filter(metrics -> metrics.source.sourceName().equals(sourceName))
        .forEach(StoreMetrics::withdraw);
    BY_STORE.values().removeIf(metrics -> metrics.source.sourceName().equals(sourceName));
    StoreMetrics made = new StoreMetrics(sourceName);
    SparkEnv.get().metricsSystem().registerSource(made.source);
    BY_STORE.put(store.token().id(), made);
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

  /** Ends the metrics of a store of which this process holds nothing any more. */
  static void remove(Nonce store) {
    synchronized (BY_STORE) {
      StoreMetrics metrics = BY_STORE.remove(store);
      if (metrics != null) {
        metrics.withdraw();
      }
    }
  }
}

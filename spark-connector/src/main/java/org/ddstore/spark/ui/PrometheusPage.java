// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.ddstore.LatencyHistogram;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.StoreStatistics;

/**
 * The statistics of stores in the text format of Prometheus, version 0.0.4. Names and labels are
 * stable. Counters begin with the load of a store; those of an ended executor stay, without its
 * connections and leases.
 */
final class PrometheusPage {
  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final double MILLIS = TimeUnit.SECONDS.toMillis(1);
  private static final String COUNTER = "counter";
  private static final String GAUGE = "gauge";

  private final List<StoreStatistics> stores;
  private final long nowMs;
  private final StringBuilder text = new StringBuilder();

  private PrometheusPage(List<StoreStatistics> stores, long nowMs) {
    this.stores = stores;
    this.nowMs = nowMs;
  }

  /**
   * Returns the page.
   *
   * @param nowMs time in milliseconds since 1970, from which the ages of reports are computed
   */
  static String of(List<StoreStatistics> stores, long nowMs) {
    PrometheusPage page = new PrometheusPage(stores, nowMs);
    page.stores();
    page.executors();
    page.reads();
    page.latencies();
    page.loaders();
    page.outsideReaders();
    return page.text.toString();
  }

  private void stores() {
    perStore("rows", GAUGE, "Rows of a store.", StoreStatistics::rows);
    perStore("bytes", GAUGE, "Memory of one copy of the rows.", StoreStatistics::bytes);
    perStore("ranks", GAUGE, "Ranks in all replica groups.", StoreStatistics::ranks);
    perStore("lost_ranks", GAUGE, "Ranks with lost shards.", s -> s.lostRanks().size());
    perStore(
        "unreadable_rows",
        GAUGE,
        "Rows of which no copy is left.",
        StoreStatistics::unreadableRows);
    perStore("losses_total", COUNTER, "Shards lost since the load.", StoreStatistics::losses);
    perStore("repairs_total", COUNTER, "Completed repairs.", StoreStatistics::repairs);
    perStore(
        "repair_seconds_total",
        COUNTER,
        "Duration of completed repairs.",
        s -> s.repairMillis() / MILLIS);
  }

  private void executors() {
    perExecutor("live_bytes", GAUGE, "Memory of the rows.", ExecutorStatistics::bytes);
    perExecutor("leases", GAUGE, "Unconfirmed shards.", ExecutorStatistics::leases);
    perExecutor(
        "served_requests_total",
        COUNTER,
        "Requests for rows of other processes.",
        ExecutorStatistics::servedRequests);
    perExecutor(
        "report_age_seconds",
        GAUGE,
        "Age of the last report of the executor; NaN before the first.",
        e -> e.answeredMs() == 0 ? Double.NaN : Math.max(0, nowMs - e.answeredMs()) / MILLIS);
  }

  private void reads() {
    perPath("read_batches_total", "Batches with rows over a path.", ReadCount::calls);
    perPath("read_rows_total", "Rows read.", ReadCount::rows);
    perPath("read_bytes_total", "Bytes read.", ReadCount::bytes);
  }

  private void loaders() {
    perLoader("batches_total", COUNTER, "Batches received.", LoaderTimes::batches);
    perLoader(
        "wait_seconds_total", COUNTER, "Time waiting for a batch.", l -> l.waitNanos() / NANOS);
    perLoader(
        "idle_seconds_total",
        COUNTER,
        "Time in which finished batches waited.",
        l -> l.idleNanos() / NANOS);
    perLoader(
        "read_seconds_total", COUNTER, "Time of reading threads.", l -> l.readNanos() / NANOS);
    perLoader(
        "compute_seconds_total",
        COUNTER,
        "Time of the loop between batches.",
        l -> l.computeNanos() / NANOS);
    perLoader("stall_ratio", GAUGE, "Share of time waiting.", LoaderTimes::stallShare);
    perLoader("utilisation_ratio", GAUGE, "Share of time computing.", LoaderTimes::utilisation);
  }

  private void outsideReaders() {
    perLabel("channels", GAUGE, "Open connections of a grant.", OutsideStatistics::channels);
    perLabel("requests_total", COUNTER, "Requests served.", OutsideStatistics::requests);
    perLabel("rows_total", COUNTER, "Rows served.", OutsideStatistics::rows);
    perLabel("bytes_total", COUNTER, "Bytes served.", OutsideStatistics::bytes);
  }

  private void perStore(
      String name, String type, String help, ToDoubleFunction<StoreStatistics> value) {
    begin(name, type, help);
    stores.forEach(store -> line(name, labels(store), value.applyAsDouble(store)));
  }

  private void perExecutor(
      String name, String type, String help, ToDoubleFunction<ExecutorStatistics> value) {
    begin(name, type, help);
    for (StoreStatistics store : stores) {
      store.executors().forEach(e -> line(name, labels(store, e), value.applyAsDouble(e)));
    }
  }

  private void perPath(String name, String help, ToDoubleFunction<ReadCount> value) {
    begin(name, COUNTER, help);
    eachReader(
        (reader, labels) -> {
          for (ReadCount count : reader.reads()) {
            String path = label("path", count.path().name().toLowerCase(Locale.ROOT));
            line(name, labels + "," + path, value.applyAsDouble(count));
          }
        });
  }

  private void perLoader(
      String suffix, String type, String help, ToDoubleFunction<LoaderTimes> value) {
    String name = "loader_" + suffix;
    begin(name, type, help);
    eachReader(
        (reader, labels) -> {
          if (reader.loader().batches() > 0) {
            line(name, labels, value.applyAsDouble(reader.loader()));
          }
        });
  }

  private void perLabel(
      String suffix, String type, String help, ToDoubleFunction<OutsideStatistics> value) {
    String name = "outside_" + suffix;
    begin(name, type, help);
    for (StoreStatistics store : stores) {
      for (ExecutorStatistics executor : store.executors()) {
        for (OutsideStatistics grant : executor.outside()) {
          String labels = labels(store, executor) + "," + label("label", grant.label());
          line(name, labels, value.applyAsDouble(grant));
        }
      }
    }
  }

  /** Adds the durations of about one batch in 64; their sum is unknown and therefore left out. */
  private void latencies() {
    String name = "batch_latency_seconds";
    begin(name, "histogram", "Durations of about one batch in 64.");
    eachReader(
        (reader, labels) -> {
          long below = 0;
          for (int bucket = 0; bucket < LatencyHistogram.BUCKETS; bucket++) {
            below += reader.latency().counts().get(bucket);
            boolean isLast = bucket == LatencyHistogram.BUCKETS - 1;
            String bound = isLast ? "+Inf" : number(LatencyHistogram.boundNanos(bucket) / NANOS);
            line(name + "_bucket", labels + "," + label("le", bound), (double) below);
          }
          line(name + "_count", labels, (double) below);
        });
  }

  private interface EachReader {
    void accept(ReaderStatistics reader, String labels);
  }

  private void eachReader(EachReader action) {
    for (StoreStatistics store : stores) {
      for (ExecutorStatistics executor : store.executors()) {
        for (ReaderStatistics reader : executor.readers()) {
          action.accept(reader, labels(store, executor) + "," + label("reader", reader.reader()));
        }
      }
    }
  }

  private void begin(String name, String type, String help) {
    text.append("# HELP ddstore_%s %s\n# TYPE ddstore_%s %s\n".formatted(name, help, name, type));
  }

  private void line(String name, String labels, double value) {
    text.append("ddstore_").append(name).append('{').append(labels).append("} ");
    text.append(number(value)).append('\n');
  }

  private static String number(double value) {
    return value == Math.rint(value) && !Double.isInfinite(value)
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  private static String labels(StoreStatistics store) {
    return label("store", store.name());
  }

  private static String labels(StoreStatistics store, ExecutorStatistics executor) {
    return "%s,%s,%s"
        .formatted(
            labels(store),
            label("executor", executor.executorId()),
            label("host", executor.host()));
  }

  private static String label(String name, String value) {
    String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    return "%s=\"%s\"".formatted(name, escaped);
  }
}

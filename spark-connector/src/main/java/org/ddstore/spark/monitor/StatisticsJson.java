// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.monitor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.ddstore.LatencyHistogram;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.LoaderTimes;
import org.ddstore.spark.types.OutsideStatistics;
import org.ddstore.spark.types.ReadCount;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.types.StoreGrant;
import org.ddstore.spark.types.StoreStatistics;

/**
 * The statistics of a store as JSON. The keys are the components of the records. A read path is one
 * of {@code own_process}, {@code same_host} and {@code remote}. A latency has its {@code counts} by
 * bucket, and {@code p50Micros} and {@code p99Micros}: the bounds of their buckets in microseconds,
 * null in the last bucket, which has none. A loader has also {@code stallShare} and {@code
 * utilisation}, and a grant that ends has {@code expiresMs}, in milliseconds since 1970.
 */
public final class StatisticsJson {
  private StatisticsJson() {}

  /** Returns one line of JSON. */
  public static String of(StoreStatistics store) {
    return node(store).toString();
  }

  /** Returns the JSON object of {@link #of}. */
  public static ObjectNode node(StoreStatistics store) {
    ObjectNode json =
        JsonNodeFactory.instance
            .objectNode()
            .put("name", store.name())
            .put("owner", store.owner())
            .put("createdMs", store.createdMs())
            .put("rows", store.rows())
            .put("bytes", store.bytes())
            .put("ranks", store.ranks())
            .put("width", store.width())
            .put("backing", store.backing())
            .put("isShortcut", store.isShortcut())
            .put("transport", store.transport());
    put(json, "lostRanks", store.lostRanks());
    json.put("unreadableRows", store.unreadableRows())
        .put("losses", store.losses())
        .put("repairs", store.repairs())
        .put("repairMillis", store.repairMillis());
    ArrayNode executors = json.putArray("executors");
    store.executors().forEach(executor -> put(executors.addObject(), executor));
    ArrayNode grants = json.putArray("grants");
    store.grants().forEach(grant -> put(grants.addObject(), grant));
    return json;
  }

  private static void put(ObjectNode json, String key, List<Integer> numbers) {
    ArrayNode array = json.putArray(key);
    numbers.forEach(array::add);
  }

  private static void put(ObjectNode json, ExecutorStatistics executor) {
    json.put("executorId", executor.executorId()).put("host", executor.host());
    put(json, "ranks", executor.ranks());
    json.put("shards", executor.shards())
        .put("rows", executor.rows())
        .put("bytes", executor.bytes())
        .put("leases", executor.leases())
        .put("servedRequests", executor.servedRequests())
        .put("answeredMs", executor.answeredMs());
    ArrayNode readers = json.putArray("readers");
    executor.readers().forEach(reader -> put(readers.addObject(), reader));
    ArrayNode outside = json.putArray("outside");
    executor.outside().forEach(grant -> put(outside.addObject(), grant));
  }

  private static void put(ObjectNode json, ReaderStatistics reader) {
    json.put("reader", reader.reader());
    ArrayNode reads = json.putArray("reads");
    for (ReadCount count : reader.reads()) {
      reads
          .addObject()
          .put("path", count.path().name().toLowerCase(Locale.ROOT))
          .put("calls", count.calls())
          .put("rows", count.rows())
          .put("bytes", count.bytes());
    }
    ObjectNode latency = json.putObject("latency");
    ArrayNode counts = latency.putArray("counts");
    reader.latency().counts().forEach(counts::add);
    putQuantile(latency, "p50Micros", reader.latency(), 0.5);
    putQuantile(latency, "p99Micros", reader.latency(), 0.99);
    LoaderTimes loader = reader.loader();
    json.putObject("loader")
        .put("batches", loader.batches())
        .put("waitNanos", loader.waitNanos())
        .put("idleNanos", loader.idleNanos())
        .put("readNanos", loader.readNanos())
        .put("computeNanos", loader.computeNanos())
        .put("stallShare", loader.stallShare())
        .put("utilisation", loader.utilisation());
  }

  private static void putQuantile(
      ObjectNode json, String key, LatencyHistogram latency, double quantile) {
    long nanos = latency.quantileNanos(quantile);
    if (nanos == Long.MAX_VALUE) {
      json.putNull(key);
    } else {
      json.put(key, (double) nanos / TimeUnit.MICROSECONDS.toNanos(1));
    }
  }

  private static void put(ObjectNode json, OutsideStatistics grant) {
    json.put("label", grant.label())
        .put("channels", grant.channels())
        .put("requests", grant.requests())
        .put("rows", grant.rows())
        .put("bytes", grant.bytes());
  }

  private static void put(ObjectNode json, StoreGrant grant) {
    json.put("label", grant.label());
    grant.expires().ifPresent(end -> json.put("expiresMs", end.toEpochMilli()));
    json.put("isRevoked", grant.isRevoked());
  }
}

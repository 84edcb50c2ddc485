// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.monitor.StoreJournal;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreStatistics;

/**
 * Writes the events and summaries of the stores of an application to Spark's event log, if {@code
 * spark.eventLog.enabled}. Never blocks: Spark's listener bus drops events when it is full. Used on
 * the driver. Thread-safe.
 */
public final class StoreLog {
  private static final Duration PERIOD = Duration.ofMinutes(1);
  private static final int TEXT = 2048;

  private final SparkContext context;
  private final boolean isEnabled;
  private final Map<String, Written> written = new HashMap<>(); // by store; guarded by this

  /** The last summary of a store; a dropped one keeps no other facts. */
  private record Written(long timeNs, ObjectNode facts) {
    boolean isDropOf(StoreStatistics store) {
      return facts.has("droppedMs") && facts.path("createdMs").asLong() == store.createdMs();
    }
  }

  /** Creates the log of an application, and listens to its journal. */
  public StoreLog(SparkContext context) {
    this.context = context;
    this.isEnabled = context.getConf().getBoolean("spark.eventLog.enabled", false);
    if (isEnabled) {
      StoreJournal.of(context).listen(this::write);
    }
  }

  private void write(StoreEvent event) {
    String text = event.text();
    StoreEvent shorter = text.length() > TEXT ? event.withText(text.substring(0, TEXT)) : event;
    post(StoreLogEvent.EVENT, Pages.events(List.of(shorter)).get(0).toString());
  }

  /** Writes summaries of stores that have changed since their last one, once a minute each. */
  public synchronized void summarize(Supplier<List<StoreStatistics>> stores) {
    if (isEnabled) {
      stores.get().forEach(this::summarize);
    }
  }

  private void summarize(StoreStatistics store) {
    Written last = written.get(store.name());
    long nowNs = System.nanoTime();
    // A collection that began before a drop ends after it.
    if (last == null || (nowNs - last.timeNs() >= PERIOD.toNanos() && !last.isDropOf(store))) {
      write(StatisticsJson.node(store), nowNs);
    }
  }

  /** Writes summaries of stores at the end of the application, unless nothing has changed. */
  public synchronized void end(Supplier<List<StoreStatistics>> stores) {
    if (isEnabled) {
      stores.get().forEach(store -> write(StatisticsJson.node(store), System.nanoTime()));
    }
  }

  /** Writes the last summary of a store that is dropped; it has {@code droppedMs}. */
  public synchronized void dropped(StoreStatistics store) {
    if (isEnabled) {
      ObjectNode json = StatisticsJson.node(store).put("droppedMs", System.currentTimeMillis());
      post(StoreLogEvent.SUMMARY, StoreSummary.of(json));
      written.put(
          store.name(),
          new Written(System.nanoTime(), json.retain(List.of("createdMs", "droppedMs"))));
    }
  }

  private void write(ObjectNode json, long nowNs) {
    ObjectNode facts = json.deepCopy();
    facts.path("executors").forEach(executor -> ((ObjectNode) executor).remove("answeredMs"));
    Written last = written.get(json.path("name").asText());
    if (last == null || !last.facts().equals(facts)) {
      written.put(json.path("name").asText(), new Written(nowNs, facts));
      post(StoreLogEvent.SUMMARY, StoreSummary.of(json));
    }
  }

  private void post(String kind, String json) {
    context.listenerBus().post(new StoreLogEvent(kind, json));
  }
}

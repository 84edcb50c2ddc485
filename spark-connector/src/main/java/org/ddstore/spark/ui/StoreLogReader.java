// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the last summaries and events, {@value #KEPT} of each, of a log that a history server
 * reads. Called by one thread.
 */
final class StoreLogReader extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLogReader.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int KEPT = 512;

  private final KVStore store;
  private final Set<String> stores = new LinkedHashSet<>(); // the oldest first
  private long events;

  StoreLogReader(KVStore store) {
    this.store = store;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof StoreLogEvent line) {
      try {
        keep(line);
      } catch (Exception e) { // of the store of the server
        LOG.warn("a line about stores in the event log could not be kept: {}", e.toString());
      }
    }
  }

  private void keep(StoreLogEvent line) throws Exception {
    if (line.getKind().equals(StoreLogEvent.SUMMARY)) {
      JsonNode summary = JSON.readTree(line.getJson());
      if (!summary.path("executors").isArray() || !summary.path("lostRanks").isArray()) {
        throw new IOException("no summary of a store: " + line.getJson());
      }
      summary(summary.path("name").asText(), line.getJson());
    } else if (line.getKind().equals(StoreLogEvent.EVENT)) {
      LogSource.event(JSON.readTree(line.getJson())); // throws if it is none
      if (events >= KEPT) {
        store.delete(StoreLogRecord.class, StoreLogRecord.eventKey(events - KEPT));
      }
      store.write(StoreLogRecord.event(events, line.getJson()));
      events++;
    }
  }

  /** Keeps the last summary of a store, of the last {@value #KEPT} stores. */
  private void summary(String name, String json) throws Exception {
    stores.remove(name);
    stores.add(name);
    if (stores.size() > KEPT) {
      String oldest = stores.iterator().next();
      stores.remove(oldest);
      store.delete(StoreLogRecord.class, StoreLogRecord.summaryKey(oldest));
    }
    store.write(StoreLogRecord.summary(name, json));
  }
}

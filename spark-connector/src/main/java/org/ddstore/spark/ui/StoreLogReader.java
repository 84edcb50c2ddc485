// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.util.kvstore.KVStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the last summary of each store and the last {@value #KEPT} events of a log that a history
 * server reads. Called by one thread.
 */
final class StoreLogReader extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLogReader.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int KEPT = 512;

  private final KVStore store;
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
      store.write(StoreLogRecord.summary(nameIn(line.getJson()), line.getJson()));
    } else if (line.getKind().equals(StoreLogEvent.EVENT)) {
      if (events >= KEPT) {
        store.delete(StoreLogRecord.class, StoreLogRecord.eventKey(events - KEPT));
      }
      store.write(StoreLogRecord.event(events, line.getJson()));
      events++;
    }
  }

  private static String nameIn(String summary) throws JsonProcessingException {
    return JSON.readTree(summary).path("name").asText();
  }
}

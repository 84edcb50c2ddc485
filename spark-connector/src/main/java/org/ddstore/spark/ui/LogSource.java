// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.types.StoreEvent;

/**
 * The stores of an application that has ended, from its event log.
 *
 * @param records records that {@link StoreLogReader} has kept
 */
record LogSource(KVStore records) implements PageSource {
  private static final ObjectMapper JSON = new ObjectMapper();

  boolean isEmpty() {
    try {
      return records.count(StoreLogRecord.class) == 0;
    } catch (Exception e) { // of the store of the server
      throw unreadable(e);
    }
  }

  @Override
  public boolean isLive() {
    return false;
  }

  @Override
  public List<ObjectNode> stores() {
    return read(StoreLogEvent.SUMMARY);
  }

  @Override
  public List<StoreEvent> events() {
    return read(StoreLogEvent.EVENT).stream().map(LogSource::event).toList();
  }

  @Override
  public List<ReadSample> samples(String store) {
    return List.of();
  }

  @Override
  public Optional<String> metrics() {
    return Optional.empty();
  }

  private List<ObjectNode> read(String kind) {
    List<ObjectNode> found = new ArrayList<>();
    try (KVStoreIterator<StoreLogRecord> all =
        records.view(StoreLogRecord.class).closeableIterator()) {
      while (all.hasNext()) {
        StoreLogRecord record = all.next();
        if (record.kind.equals(kind)) {
          found.add((ObjectNode) JSON.readTree(record.json));
        }
      }
    } catch (Exception e) { // of the store of the server
      throw unreadable(e);
    }
    return found;
  }

  private static IllegalStateException unreadable(Exception e) {
    return new IllegalStateException("the stores in the event log are unreadable: " + e, e);
  }

  static StoreEvent event(JsonNode json) {
    return new StoreEvent(
        json.path("timeMs").asLong(),
        json.path("store").asText(),
        StoreEvent.Kind.valueOf(json.path("kind").asText().toUpperCase(Locale.ROOT)),
        json.path("text").asText(),
        json.path("rows").asLong(),
        json.path("bytes").asLong(),
        json.path("millis").asLong());
  }
}

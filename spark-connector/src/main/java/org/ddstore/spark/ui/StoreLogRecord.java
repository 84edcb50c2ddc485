// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import org.apache.spark.util.kvstore.KVIndex;

/**
 * What a history server keeps of a {@link StoreLogEvent}, in memory or on disk as JSON. Sorted by
 * its key: events in their order, then the last summaries by the name of the store.
 */
public final class StoreLogRecord {
  @KVIndex public String key = "";
  public String kind = "";
  public String json = "";

  /** Creates a record for Jackson. */
  public StoreLogRecord() {}

  private StoreLogRecord(String key, String kind, String json) {
    this.key = key;
    this.kind = kind;
    this.json = json;
  }

  static StoreLogRecord summary(String store, String json) {
    return new StoreLogRecord(summaryKey(store), StoreLogEvent.SUMMARY, json);
  }

  static StoreLogRecord event(long number, String json) {
    return new StoreLogRecord(eventKey(number), StoreLogEvent.EVENT, json);
  }

  static String summaryKey(String store) {
    return "summary " + store;
  }

  static String eventKey(long number) {
    return "event %019d".formatted(number);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * A line about a store in Spark's event log, as Jackson writes and reads it. The names of the class
 * and of its properties are the format of the log.
 */
public final class StoreLogEvent implements SparkListenerEvent {
  static final String EVENT = "event";
  static final String SUMMARY = "summary";

  private String kind = "";
  private String json = "";

  /** Creates an event for Jackson. */
  public StoreLogEvent() {}

  StoreLogEvent(String kind, String json) {
    this.kind = kind;
    this.json = json;
  }

  /** Returns {@code event} or {@code summary}. */
  public String getKind() {
    return kind;
  }

  /** Sets the kind, for Jackson. */
  public void setKind(String kind) {
    this.kind = kind;
  }

  /** Returns a JSON object: an event as the pages have it, or the statistics of a store. */
  public String getJson() {
    return json;
  }

  /** Sets the JSON object, for Jackson. */
  public void setJson(String json) {
    this.json = json;
  }
}

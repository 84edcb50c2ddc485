// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.types.StoreEvent;

/** What the pages show, from a running application or from its log. Thread-safe. */
public interface PageSource {
  /** Returns whether the application runs: the pages then refresh themselves. */
  boolean isLive();

  /** Returns the statistics of all stores as JSON, by name; see {@code StatisticsJson}. */
  List<ObjectNode> stores();

  /** Returns the statistics of one store; empty for other names, and for null. */
  default Optional<ObjectNode> store(String name) {
    return stores().stream().filter(s -> s.path("name").asText().equals(name)).findAny();
  }

  /** Returns the last events, oldest first. */
  List<StoreEvent> events();

  /** Returns the last samples of the reads of a store, oldest first. */
  List<ReadSample> samples(String store);

  /** Returns the metrics in the text format of Prometheus; empty if the application has ended. */
  Optional<String> metrics();
}

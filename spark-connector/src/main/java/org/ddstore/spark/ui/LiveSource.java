// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import org.ddstore.spark.monitor.MonitorView;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.monitor.StatisticsJson;
import org.ddstore.spark.types.StoreEvent;

/** The stores of a running application. */
record LiveSource(MonitorView monitor) implements PageSource {
  @Override
  public boolean isLive() {
    return true;
  }

  @Override
  public List<ObjectNode> stores() {
    return monitor.stores().stream().map(StatisticsJson::node).toList();
  }

  @Override
  public Optional<ObjectNode> store(String name) {
    return monitor.stores().stream()
        .filter(store -> store.name().equals(name))
        .findAny()
        .map(StatisticsJson::node);
  }

  @Override
  public List<StoreEvent> events() {
    return monitor.events();
  }

  @Override
  public List<ReadSample> samples(String store) {
    return monitor.samples(store);
  }

  @Override
  public Optional<String> metrics() {
    return Optional.of(PrometheusPage.of(monitor.stores(), System.currentTimeMillis()));
  }
}

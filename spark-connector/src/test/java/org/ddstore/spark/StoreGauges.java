// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import com.codahale.metrics.Gauge;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;

/** The metrics of a store in the process of the caller. */
public final class StoreGauges {
  private StoreGauges() {}

  /** Returns the values by name; empty if the process has no metrics of the store. */
  public static Map<String, Long> of(String store) {
    Map<String, Long> values = new HashMap<>();
    scala.collection.Iterator<Source> sources =
        SparkEnv.get().metricsSystem().getSourcesByName("ddstore." + store).iterator();
    while (sources.hasNext()) {
      sources
          .next()
          .metricRegistry()
          .getGauges()
          .forEach((name, gauge) -> values.put(name, (Long) ((Gauge<?>) gauge).getValue()));
    }
    return values;
  }
}

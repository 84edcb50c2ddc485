package org.ddstore.spark.resident;

import com.codahale.metrics.MetricRegistry;
import org.apache.spark.metrics.source.Source;

/** Metrics of a store. The same as another if it has the same registry, whatever it is called. */
record StoreSource(String sourceName, MetricRegistry metricRegistry) implements Source {

  /**
   * What Spark is to remove: it takes away all metrics whose names begin with the source's, and
   * without the dot that ends it those of "train" would take those of "train_val" with them.
   */
  StoreSource removal() {
    return new StoreSource(sourceName + ".", metricRegistry);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StoreSource that && isRegistry(that.metricRegistry);
  }

  @SuppressWarnings("ReferenceEquality") // a registry is itself alone
  private boolean isRegistry(MetricRegistry registry) {
    return metricRegistry == registry;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(metricRegistry);
  }
}

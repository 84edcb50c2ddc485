package org.ddstore.spark.resident;

import com.codahale.metrics.MetricRegistry;
import org.apache.spark.metrics.source.Source;

/** The metrics source of a store. Two sources are equal if they have the same registry. */
record StoreSource(String sourceName, MetricRegistry metricRegistry) implements Source {

  /**
   * Returns the source to pass to Spark for removal. Spark removes all metrics whose names begin
   * with the name of the source, so without the final dot, the removal of "train" would also remove
   * "train_val".
   */
  StoreSource removal() {
    return new StoreSource(sourceName + ".", metricRegistry);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StoreSource that && isRegistry(that.metricRegistry);
  }

  @SuppressWarnings("ReferenceEquality") // registries are compared by identity
  private boolean isRegistry(MetricRegistry registry) {
    return metricRegistry == registry;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(metricRegistry);
  }
}

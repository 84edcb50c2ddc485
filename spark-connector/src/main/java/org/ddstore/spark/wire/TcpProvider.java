package org.ddstore.spark.wire;

import org.apache.spark.SparkEnv;
import org.ddstore.transport.Availability;
import org.ddstore.transport.TransportProvider;

/** Announces the {@code tcp} transport, which every process of Spark has. */
public final class TcpProvider implements TransportProvider {
  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public Availability availability() {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return Availability.unavailable(
          "no process of Spark: its settings say how connections are guarded");
    }
    try {
      WireOptions options = WireOptions.of(env, 0);
      return Availability.available(
          "Spark's own network at %s, %s".formatted(options.host(), options.protection()));
    } catch (IllegalArgumentException e) {
      return Availability.unavailable(e.getMessage());
    }
  }
}

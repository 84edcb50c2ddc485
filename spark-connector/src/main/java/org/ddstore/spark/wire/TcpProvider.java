package org.ddstore.spark.wire;

import org.apache.spark.SparkEnv;
import org.ddstore.transport.Availability;
import org.ddstore.transport.TransportProvider;

/** The provider of the {@code tcp} transport, available in every Spark process. */
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
          "not a Spark process: connections require the settings of Spark");
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.ddstore.spark.backend.OpenTransport;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportBackend;
import org.ddstore.spark.backend.TransportOffer;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.Availability;

/** The {@code tcp} transport: the connections of the store, available in every Spark process. */
public final class TcpTransportBackend implements TransportBackend {
  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public int order() {
    return 10;
  }

  @Override
  public String summary() {
    return "uses TCP connections between executors";
  }

  @Override
  public Optional<AutoUse> autoUse() {
    return Optional.of(new AutoUse(0, ""));
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
          "TCP at %s, %s".formatted(options.host(), options.protection()));
    } catch (IllegalArgumentException e) {
      return Availability.unavailable(e.getMessage());
    }
  }

  @Override
  public TransportOffer offer(RankPlace place, boolean isAuto) {
    return (start, reason) -> OpenTransport.of(start.network(), start.network(), reason);
  }

  @Override
  public Optional<String> residentProblem() {
    return Optional.empty();
  }
}

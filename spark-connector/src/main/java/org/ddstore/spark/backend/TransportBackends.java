// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.ddstore.transport.TransportProvider;
import org.ddstore.transport.TransportProviders;
import org.ddstore.types.DDStoreException;

/** The transports that jobs of Spark can use, by name. */
public final class TransportBackends {
  private TransportBackends() {}

  /** Returns all transports, in their order. */
  public static List<TransportBackend> all() {
    return TransportProviders.all().stream().map(TransportBackends::backend).toList();
  }

  /**
   * Returns the configured transport; empty for {@code auto}.
   *
   * @param transport value of {@code spark.ddstore.transport}
   * @throws DDStoreException if this process does not have the transport
   */
  public static Optional<TransportBackend> configured(String transport) {
    if (transport.equals(TransportProviders.AUTO)) {
      return Optional.empty();
    }
    return Optional.of(
        all().stream()
            .filter(backend -> backend.name().equals(transport))
            .findAny()
            .orElseThrow(
                () ->
                    new DDStoreException(
                        "transport %s is not on the class path of this process, known are %s: add its jar to spark.executor.extraClassPath"
                            .formatted(transport, String.join(", ", TransportProviders.names())))));
  }

  /** Returns the transports from which ranks choose, in the order of preference. */
  static List<TransportBackend> candidates(String transport) {
    return configured(transport)
        .map(List::of)
        .orElseGet(
            () -> TransportProviders.ofAuto().stream().map(TransportBackends::backend).toList());
  }

  /** Returns the name of the transport that all ranks can always use. */
  public static String base() {
    return TransportProviders.ofAuto().stream()
        .filter(provider -> provider.autoUse().get().condition().isEmpty())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no transport that all ranks can always use"))
        .name();
  }

  /**
   * Returns the warning that resident stores use {@link #base} instead of a transport; empty if
   * they can use it.
   *
   * @param transport value of {@code spark.ddstore.transport}
   */
  public static Optional<String> residentWarning(String transport) {
    return configured(transport)
        .flatMap(TransportBackend::residentProblem)
        .map(
            reason ->
                "resident stores cannot use transport %s, because %s: using %s"
                    .formatted(transport, reason, base()));
  }

  /** Returns the groups of executors of an application that end together. Driver. */
  public static List<SharedLoss> sharedLosses(SparkContext context) {
    return all().stream().flatMap(backend -> backend.sharedLosses(context).stream()).toList();
  }

  private static TransportBackend backend(TransportProvider provider) {
    if (provider instanceof TransportBackend backend) {
      return backend;
    }
    throw new IllegalStateException(
        "%s, the provider of transport %s, does not implement %s"
            .formatted(
                provider.getClass().getName(),
                provider.name(),
                TransportBackend.class.getSimpleName()));
  }
}

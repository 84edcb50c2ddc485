// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.ddstore.transport.TransportProvider;
import org.ddstore.transport.TransportProviders;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transports that jobs of Spark can use, by name. */
public final class TransportBackends {
  private static final Logger LOG = LoggerFactory.getLogger(TransportBackends.class);

  private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

  private TransportBackends() {}

  public static List<TransportBackend> all() {
    return all(TransportProviders.all());
  }

  static List<TransportBackend> all(List<TransportProvider> providers) {
    return providers.stream()
        .flatMap(
            provider -> {
              if (provider instanceof TransportBackend backend) {
                return Stream.of(backend);
              }
              warnOnce(
                  "transport %s is left out: %s".formatted(provider.name(), noBackend(provider)));
              return Stream.empty();
            })
        .toList();
  }

  /**
   * Returns the configured transport; empty for {@code auto}.
   *
   * @param transport value of {@code spark.ddstore.transport}
   * @throws DDStoreException if this process does not have the transport
   */
  public static Optional<TransportBackend> configured(String transport) {
    return configured(transport, TransportProviders.all());
  }

  static Optional<TransportBackend> configured(
      String transport, List<TransportProvider> providers) {
    if (transport.equals(TransportProviders.AUTO)) {
      return Optional.empty();
    }
    TransportProvider found =
        providers.stream()
            .filter(provider -> provider.name().equals(transport))
            .findAny()
            .orElseThrow(
                () ->
                    new DDStoreException(
                        "transport %s is not on the class path of this process, known are %s: pass its jar where the runtime jar is, in --jars or in spark.executor.extraClassPath"
                            .formatted(transport, String.join(", ", TransportProviders.names()))));
    if (found instanceof TransportBackend backend) {
      return Optional.of(backend);
    }
    throw new DDStoreException(
        "transport %s cannot be used in jobs of Spark: %s".formatted(transport, noBackend(found)));
  }

  /** Returns the transports from which ranks choose, in the order of preference. */
  static List<TransportBackend> candidates(String transport) {
    return configured(transport).map(List::of).orElseGet(() -> ofAuto(TransportProviders.ofAuto()));
  }

  /**
   * Returns those of the providers with an {@link TransportProvider#autoUse} that {@code auto} can
   * choose: transports that resident stores can use, too, because {@code auto} is the same for all
   * stores.
   */
  static List<TransportBackend> ofAuto(List<TransportProvider> providers) {
    return all(providers).stream()
        .filter(
            backend -> {
              Optional<String> problem = backend.residentProblem();
              problem.ifPresent(
                  reason ->
                      warnOnce(
                          "auto leaves out transport %s, because resident stores cannot use it (%s): the residentProblem of a transport with an autoUse must be empty"
                              .formatted(backend.name(), reason)));
              return problem.isEmpty();
            })
        .toList();
  }

  /** Returns the name of the transport that all ranks can always use, also for resident stores. */
  public static String base() {
    return base(TransportProviders.ofAuto());
  }

  static String base(List<TransportProvider> providers) {
    return ofAuto(providers).stream()
        .filter(backend -> backend.autoUse().orElseThrow().condition().isEmpty())
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

  private static String noBackend(TransportProvider provider) {
    return "its provider %s does not implement %s"
        .formatted(provider.getClass().getName(), TransportBackend.class.getName());
  }

  private static void warnOnce(String warning) {
    if (LOGGED.add(warning)) {
      LOG.warn(warning);
    }
  }
}

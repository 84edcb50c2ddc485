// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The transports of this process: all providers that the ServiceLoader finds. */
public final class TransportProviders {
  /** Name of the choice among all transports that have an {@link TransportProvider#autoUse()}. */
  public static final String AUTO = "auto";

  private static final List<TransportProvider> ALL =
      checked(
          ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
              .stream()
              .map(ServiceLoader.Provider::get)
              .toList());

  private TransportProviders() {}

  /**
   * Returns providers in their order.
   *
   * @throws IllegalStateException if two of them have the same name, or one is named {@value #AUTO}
   */
  static List<TransportProvider> checked(List<TransportProvider> found) {
    Set<String> names = new HashSet<>(Set.of(AUTO));
    for (TransportProvider provider : found) {
      if (!names.add(provider.name())) {
        throw new IllegalStateException(
            "the name \"%s\" of transport %s is taken: remove one of the two from the class path"
                .formatted(provider.name(), provider.getClass().getName()));
      }
    }
    return found.stream()
        .sorted(
            Comparator.comparingInt(TransportProvider::order)
                .thenComparing(TransportProvider::name))
        .toList();
  }

  /** Returns all transports, in their order. */
  public static List<TransportProvider> all() {
    return ALL;
  }

  /** Returns the transports that {@value #AUTO} tries, in the order of its preference. */
  public static List<TransportProvider> ofAuto() {
    return ofAuto(ALL);
  }

  static List<TransportProvider> ofAuto(List<TransportProvider> providers) {
    return providers.stream()
        .filter(provider -> provider.autoUse().isPresent())
        .sorted(
            Comparator.comparingInt(
                    (TransportProvider provider) -> provider.autoUse().get().preference())
                .reversed())
        .toList();
  }

  /** Returns all values of {@code spark.ddstore.transport}. */
  public static List<String> names() {
    return Stream.concat(Stream.of(AUTO), ALL.stream().map(TransportProvider::name)).toList();
  }

  /**
   * Returns one sentence about all values of {@code spark.ddstore.transport}, without the full
   * stop.
   *
   * @param name format of a name, with one {@code %s}
   */
  public static String summary(String name) {
    return summary(ALL, name);
  }

  static String summary(List<TransportProvider> providers, String name) {
    String each =
        providers.stream()
            .map(provider -> name.formatted(provider.name()) + " " + provider.summary())
            .collect(Collectors.joining("; "));
    String auto =
        ofAuto(providers).stream()
            .map(
                provider -> {
                  String condition = provider.autoUse().get().condition();
                  return name.formatted(provider.name())
                      + (condition.isEmpty() ? "" : " if " + condition);
                })
            .collect(Collectors.joining(", else "));
    return "%s; %s uses %s".formatted(each, name.formatted(AUTO), auto);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.ddstore.types.Loggers;

/** The transports of this process: all usable providers that the ServiceLoader finds. */
public final class TransportProviders {
  /** Name of the choice among all transports that have an {@link TransportProvider#autoUse()}. */
  public static final String AUTO = "auto";

  private static final System.Logger LOG = Loggers.of(TransportProviders.class);

  /** Limit of {@link #load}, because a class path that cannot be listed fails without end. */
  private static final int MAX_FAILURES = 100;

  /** The transports of this process, loaded by the first call that needs them. */
  private static final class Loaded {
    static final List<TransportProvider> ALL =
        load(
            TransportProvider.class.getClassLoader(),
            problem -> LOG.log(System.Logger.Level.WARNING, problem));

    private Loaded() {}
  }

  private TransportProviders() {}

  /** Loads the usable providers, in their order, and reports those that cannot be loaded. */
  static List<TransportProvider> load(ClassLoader loader, Consumer<String> report) {
    List<TransportProvider> found = new ArrayList<>();
    Iterator<TransportProvider> providers =
        ServiceLoader.load(TransportProvider.class, loader).iterator();
    int failures = 0;
    while (failures < MAX_FAILURES) {
      try {
        if (!providers.hasNext()) {
          break;
        }
        found.add(providers.next());
      } catch (ServiceConfigurationError | LinkageError e) {
        failures++;
        report.accept(
            "a transport is left out, because it cannot be loaded (%s): remove its jar from the class path, or add the classes that it needs"
                .formatted(e.getCause() == null ? e : e + ", " + e.getCause()));
      }
    }
    return distinct(found, report);
  }

  /** Returns providers in their order without repeated names or {@value #AUTO}; reports those. */
  static List<TransportProvider> distinct(List<TransportProvider> found, Consumer<String> report) {
    Map<String, TransportProvider> byName = new LinkedHashMap<>();
    for (TransportProvider provider : found) {
      String name = provider.name();
      if (name.equals(AUTO)) {
        report.accept(
            "transport %s is left out, because its name \"%s\" means the choice among all: rename it"
                .formatted(provider.getClass().getName(), name));
        continue;
      }
      TransportProvider first = byName.putIfAbsent(name, provider);
      if (first != null) {
        report.accept(
            "transport %s is left out, because %s has its name \"%s\", too: remove one of the two from the class path"
                .formatted(provider.getClass().getName(), first.getClass().getName(), name));
      }
    }
    return byName.values().stream()
        .sorted(
            Comparator.comparingInt(TransportProvider::order)
                .thenComparing(TransportProvider::name))
        .toList();
  }

  public static List<TransportProvider> all() {
    return Loaded.ALL;
  }

  /** Returns the transports that {@value #AUTO} tries, in the order of its preference. */
  public static List<TransportProvider> ofAuto() {
    return ofAuto(Loaded.ALL);
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
    return Stream.concat(Stream.of(AUTO), Loaded.ALL.stream().map(TransportProvider::name))
        .toList();
  }

  /** Returns a sentence on all values of the setting; {@code name} formats a value's name. */
  public static String summary(String name) {
    return summary(Loaded.ALL, name);
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

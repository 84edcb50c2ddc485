// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;

/**
 * The choice of a provider and an interface: RDMA hardware before software; of several devices the
 * nearest to this process, and of equally near ones each in turn.
 *
 * @param version human-readable version of the library
 * @param offers offers by the address to bind to; an empty address means any
 */
record FabricChooser(
    String version, Function<String, List<FabricOffer>> offers, Affinity affinity) {
  /** Environment variable by which users of ORNL DDStore select an interface. */
  static final String INTERFACE_VARIABLE = "FABRIC_IFACE";

  OneSidedChoice choose(OneSidedOptions options, Map<String, String> environment) {
    String named = options.networkInterface();
    String by = "spark.ddstore.fabric.interface";
    if (named.isEmpty()) {
      named = environment.getOrDefault(INTERFACE_VARIABLE, "");
      by = INTERFACE_VARIABLE;
    }
    List<FabricOffer> all = offers.apply("");
    List<FabricOffer> legal = legal(all, options);
    if (legal.isEmpty()) {
      return OneSidedChoice.none(whyNone(all, options.provider()));
    }
    if (!named.isEmpty()) {
      return byInterface(legal, named, by);
    }
    List<FabricOffer> hardware = legal.stream().filter(FabricOffer::isRdma).toList();
    return hardware.isEmpty() ? bySparkAddress(options) : nearest(hardware, options.index());
  }

  private String whyNone(List<FabricOffer> all, String wanted) {
    if (!wanted.isEmpty() && !wanted.equals(FabricOffer.TCP)) {
      return "%s has no usable provider \"%s\" on this host; available providers: %s"
          .formatted(version, wanted, names(all, FabricOffer::provider));
    }
    String layered = FabricOffer.LAYERED_TCP;
    return all.stream().anyMatch(offer -> offer.provider().equals(layered))
        ? "%s supports TCP only by %s, which can end the process when a read is cancelled: install libfabric 1.17 or later, or accept the risk by spark.ddstore.fabric.provider=%s"
            .formatted(version, layered, layered)
        : "%s has no provider on this host that reads remote memory".formatted(version);
  }

  /**
   * Returns the usable offers, one per device: libfabric lists some devices once per address format
   * ({@code verbs}: IPv4, IPv6 and InfiniBand), and opens the first.
   */
  private static List<FabricOffer> legal(List<FabricOffer> all, OneSidedOptions options) {
    Map<List<String>, FabricOffer> first = new LinkedHashMap<>();
    all.stream()
        .filter(offer -> offer.isLegal(options.provider()))
        .forEach(offer -> first.putIfAbsent(List.of(offer.provider(), offer.domain()), offer));
    return List.copyOf(first.values());
  }

  private OneSidedChoice byInterface(List<FabricOffer> legal, String named, String by) {
    return legal.stream()
        .filter(offer -> offer.domain().equals(named))
        .max(Comparator.comparing(FabricOffer::isRdma))
        .map(offer -> choice(offer, "", "selected by " + by))
        .orElseGet(
            () ->
                OneSidedChoice.none(
                    "%s is \"%s\", not a usable interface of this host: %s"
                        .formatted(by, named, names(legal, FabricOffer::domain))));
  }

  /** Returns the nearest device of the best provider, which is that of the first offer. */
  private OneSidedChoice nearest(List<FabricOffer> hardware, int index) {
    String provider = hardware.get(0).provider();
    List<FabricOffer> same =
        hardware.stream().filter(offer -> offer.provider().equals(provider)).toList();
    int shortest = same.stream().mapToInt(affinity::distance).min().orElseThrow();
    List<FabricOffer> near =
        same.stream().filter(offer -> affinity.distance(offer) == shortest).toList();
    FabricOffer taken = near.get(Math.floorMod(index, near.size()));
    return choice(
        taken,
        "",
        "%s, one of the %d nearest of %d"
            .formatted(affinity.describe(taken), near.size(), same.size()));
  }

  private OneSidedChoice bySparkAddress(OneSidedOptions options) {
    return legal(offers.apply(options.host()), options).stream()
        .findFirst()
        .map(
            offer ->
                choice(
                    offer,
                    options.host(),
                    options.host().isEmpty()
                        ? "the first of libfabric, bound to no address"
                        : "bound to " + options.host()))
        .orElseGet(
            () ->
                OneSidedChoice.none(
                    "%s cannot be bound to %s, the address of this process"
                        .formatted(version, options.host())));
  }

  private OneSidedChoice choice(FabricOffer offer, String host, String why) {
    return new OneSidedChoice(
        offer.means(),
        offer.isRdma(),
        offer.provider(),
        offer.domain(),
        host,
        "%s on %s (%s), %s%s"
            .formatted(
                offer.provider(),
                offer.domain(),
                why,
                version,
                offer.isRdma() ? "" : "; software, no RDMA hardware"));
  }

  private static String names(List<FabricOffer> offers, Function<FabricOffer, String> name) {
    return offers.stream().map(name).distinct().collect(Collectors.joining(", "));
  }
}

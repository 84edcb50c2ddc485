// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import java.util.Map;
import java.util.Optional;
import org.ddstore.fabric.FabricProvider;
import org.ddstore.spark.backend.RankPlace;
import org.ddstore.spark.backend.TransportBackend;
import org.ddstore.spark.backend.TransportOffer;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.transport.Availability;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.types.DDStoreException;

/** The {@code fabric} transport: one-sided reads by libfabric. */
public final class FabricTransportBackend implements TransportBackend {
  private static final FabricProvider PROVIDER = new FabricProvider();

  @Override
  public String name() {
    return "fabric";
  }

  @Override
  public int order() {
    return 20;
  }

  @Override
  public String summary() {
    return "uses libfabric, also without RDMA hardware";
  }

  @Override
  public Optional<AutoUse> autoUse() {
    return Optional.of(new AutoUse(10, "all ranks have RDMA hardware"));
  }

  @Override
  public Availability availability() {
    return PROVIDER.availability();
  }

  @Override
  public Availability availability(Map<String, String> settings, String host) {
    return PROVIDER.choose(options(Settings.of(settings), host, 0)).availability();
  }

  @Override
  public Optional<String> residentProblem() {
    return Optional.empty();
  }

  @Override
  public TransportOffer offer(RankPlace place, boolean isAuto) {
    OneSidedOptions options = options(place.settings(), place.host(), place.index());
    OneSidedChoice own = choose(options, place, isAuto);
    if (!isAuto && !own.isAvailable()) {
      throw new DDStoreException(
          "rank %d at %s cannot read by fabric: %s. %s=auto uses another transport"
              .formatted(place.rank(), options.host(), own.detail(), OptionKeys.SETTING_TRANSPORT));
    }
    return new FabricTransportOffer(PROVIDER, own, isAuto);
  }

  /** Chooses a device; {@code auto} loads the library only if RDMA hardware exists. */
  private static OneSidedChoice choose(OneSidedOptions options, RankPlace place, boolean isAuto) {
    if (!isAuto) {
      return PROVIDER.choose(options);
    }
    if (place.isEncrypted()) {
      return OneSidedChoice.none(
          "Spark encrypts network traffic and fabric does not; set %s=fabric to use it nevertheless"
              .formatted(OptionKeys.SETTING_TRANSPORT));
    }
    Availability hardware = PROVIDER.hardware();
    return hardware.isAvailable()
        ? PROVIDER.choose(options)
        : OneSidedChoice.none(hardware.detail());
  }

  static OneSidedOptions options(Settings settings, String host, int index) {
    return new OneSidedOptions(
        settings.text(Setting.FABRIC_PROVIDER),
        settings.text(Setting.FABRIC_INTERFACE),
        host,
        index);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.ddstore.types.DDStoreException;

/**
 * The accelerators that a driver shows to this process.
 *
 * @param count number of devices; 0 without a driver
 * @param current device of the current context of the thread that asked; empty without a context
 * @param hidden value of {@value #VISIBLE}, by which the driver hides devices; empty if not set
 * @param description human-readable text: the driver, or the reason why there is none
 */
public record Devices(int count, OptionalInt current, String hidden, String description) {
  /** The environment variable that lists the devices that the driver shows. */
  public static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  /** The environment variable in which launchers pass a process its number on the host. */
  public static final String LOCAL_RANK = "LOCAL_RANK";

  /** Returns devices as the driver reports them. */
  public static Devices of(int count, OptionalInt current, String driver) {
    String visible = System.getenv(VISIBLE);
    return new Devices(count, current, visible == null ? "" : visible, driver);
  }

  /** Returns no device. */
  public static Devices none(String reason) {
    return new Devices(0, OptionalInt.empty(), "", "no device: " + reason);
  }

  /** Asks the driver, for up to one second in a process. Throws nothing: no driver, no device. */
  public static Devices ofThisProcess() {
    try {
      DevicePinning.Provider provider = provider().orElse(null);
      Optional<String> problem = problem(provider);
      return problem.isPresent() ? none(problem.get()) : provider.devices();
    } catch (DDStoreException | ServiceConfigurationError e) {
      return none(e.getMessage());
    }
  }

  /**
   * Opens a stream of copies to a device; the caller closes it.
   *
   * @throws DDStoreException if there is no driver, or it refuses
   */
  public static DeviceStream openStream(int device) {
    DevicePinning.Provider provider = provider().orElse(null);
    Optional<String> problem = problem(provider);
    if (problem.isPresent()) {
      throw new DDStoreException("device %d cannot be opened: %s".formatted(device, problem.get()));
    }
    return provider.openStream(device);
  }

  static Optional<DevicePinning.Provider> provider() {
    return ServiceLoader.load(DevicePinning.Provider.class, Devices.class.getClassLoader())
        .findFirst();
  }

  static Optional<String> problem(DevicePinning.Provider provider) {
    return provider == null
        ? Optional.of("the module ddstore-native is not on the class path")
        : provider.problem();
  }

  boolean has(int device) {
    return device >= 0 && device < count;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.util.Optional;
import java.util.OptionalInt;
import org.ddstore.memory.DevicePinning;
import org.ddstore.memory.DeviceStream;
import org.ddstore.memory.Devices;
import org.ddstore.types.DDStoreException;

/** The provider of pinning and copies by the CUDA driver. */
public final class CudaPinningProvider implements DevicePinning.Provider {
  private static final int MAJOR = 1000;
  private static final int MINOR = 10;

  @Override
  public Optional<String> problem() {
    if (!NativeLibrary.isLoaded()) {
      return Optional.of("libddstore.so: " + NativeLibrary.description());
    }
    String problem = CudaPinning.driver().problem();
    return problem.isEmpty() ? Optional.empty() : Optional.of(problem);
  }

  @Override
  public String description() {
    return description(CudaPinning.driver());
  }

  private static String description(CudaPinning.Driver driver) {
    int version = driver.version();
    return "the CUDA driver %d.%d".formatted(version / MAJOR, version % MAJOR / MINOR);
  }

  @Override
  public Devices devices() {
    CudaPinning.Driver driver = CudaPinning.driver();
    if (!driver.problem().isEmpty()) {
      throw new DDStoreException(driver.problem());
    }
    int current = driver.current();
    return Devices.of(
        driver.devices(),
        current < 0 ? OptionalInt.empty() : OptionalInt.of(current),
        description(driver));
  }

  @Override
  public DevicePinning open(int device) {
    return CudaPinning.open(device);
  }

  @Override
  public DeviceStream openStream(int device) {
    return CudaStream.open(device);
  }
}

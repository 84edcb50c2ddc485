// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.util.Optional;
import org.ddstore.memory.DevicePinning;

/** The provider of pinning by the CUDA driver. */
public final class CudaPinningProvider implements DevicePinning.Provider {
  private static final int MAJOR = 1000;
  private static final int MINOR = 10;

  @Override
  public Optional<String> problem() {
    if (!NativeLibrary.isLoaded()) {
      return Optional.of("libddstore.so: " + NativeLibrary.description());
    }
    CudaPinning.Driver driver = CudaPinning.driver();
    return driver.version() < 0 ? Optional.of(driver.problem()) : Optional.empty();
  }

  @Override
  public String description() {
    int version = CudaPinning.driver().version();
    return "the CUDA driver %d.%d".formatted(version / MAJOR, version % MAJOR / MINOR);
  }

  @Override
  public DevicePinning open(int device) {
    return CudaPinning.open(device);
  }
}

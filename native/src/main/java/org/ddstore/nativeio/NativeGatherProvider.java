// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import org.ddstore.read.GatherKernel;
import org.ddstore.transport.Availability;

/** The provider of the native gather kernel, if the library can be loaded. */
public final class NativeGatherProvider implements GatherKernel.Provider {
  @Override
  public Availability availability() {
    return NativeLibrary.isLoaded()
        ? Availability.available("C")
        : Availability.unavailable(NativeLibrary.description());
  }

  @Override
  public GatherKernel kernel() {
    return new NativeGather();
  }
}

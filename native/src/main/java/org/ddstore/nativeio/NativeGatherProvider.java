package org.ddstore.nativeio;

import org.ddstore.read.GatherKernel;
import org.ddstore.transport.Availability;

/** Offers the gather kernel where the library can be loaded. */
public final class NativeGatherProvider implements GatherKernel.Provider {
  /** By {@link java.util.ServiceLoader}. */
  public NativeGatherProvider() {}

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

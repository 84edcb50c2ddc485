package org.ddstore.mpi;

import org.ddstore.transport.Availability;
import org.ddstore.transport.TransportProvider;

/** Announces the {@code mpi} transport, also where it cannot be used: it says why. */
public final class MpiProvider implements TransportProvider {
  @Override
  public String name() {
    return "mpi";
  }

  @Override
  public Availability availability() {
    return Mpi.availability();
  }
}

package org.ddstore.mpi;

import org.ddstore.transport.Availability;
import org.ddstore.transport.TransportProvider;

/**
 * The provider of the {@code mpi} transport; also registered where MPI is unavailable, to report
 * the reason.
 */
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

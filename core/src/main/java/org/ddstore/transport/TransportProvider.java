package org.ddstore.transport;

/**
 * A provider of a transport, found by {@link java.util.ServiceLoader}, so that a build without a
 * backend works and a backend with a missing library can report it.
 */
public interface TransportProvider {
  /** Returns the name of the transport: {@code tcp}, {@code fabric}, {@code mpi}. */
  String name();

  /** Returns whether this process can currently use the transport. Cheap; throws nothing. */
  Availability availability();
}

package org.ddstore.transport;

/**
 * Announces a way to read another rank's memory. Found by {@link java.util.ServiceLoader}, so that
 * a build without a backend runs, and one whose library is missing can say so.
 */
public interface TransportProvider {
  /** The name by which users know it: {@code tcp}, {@code fabric}, {@code mpi}. */
  String name();

  /** Whether it can be used by this process, found out now. Cheap; throws nothing. */
  Availability availability();
}

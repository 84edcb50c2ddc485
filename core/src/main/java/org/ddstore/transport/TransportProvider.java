package org.ddstore.transport;

/**
 * Announces a way to read another rank's memory. Found by {@link java.util.ServiceLoader}, so that
 * a build without a backend runs, and one whose library is missing can say so.
 */
public interface TransportProvider {
  /** The name that {@code --transport} and {@code spark.ddstore.transport} take. */
  String name();

  /** Whether it can be used by this process, found out now. Cheap; throws nothing. */
  Availability availability();
}

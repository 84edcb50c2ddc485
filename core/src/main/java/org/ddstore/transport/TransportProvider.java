// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.Optional;

/**
 * A transport as users choose it: by its name, or by {@value TransportProviders#AUTO}. Found by
 * {@link java.util.ServiceLoader}, so that only the transport itself holds its name.
 */
public interface TransportProvider {
  /**
   * The use of a transport by {@value TransportProviders#AUTO}, which takes the transport with the
   * highest preference whose condition holds.
   *
   * @param preference preference of this transport; higher ones are tried first
   * @param condition human-readable condition, such as {@code all ranks have RDMA hardware}; empty
   *     for a transport that all ranks can always use
   */
  record AutoUse(int preference, String condition) {}

  /** Returns the name of the transport, a value of {@code spark.ddstore.transport}. */
  String name();

  /** Returns the position of the transport in lists; lower ones come first. */
  int order();

  /** Returns what the transport uses, as the rest of a sentence that begins with its name. */
  String summary();

  /** Returns whether this process can currently use the transport. Cheap; throws nothing. */
  Availability availability();

  /** Returns how {@value TransportProviders#AUTO} uses the transport; empty if it does not. */
  default Optional<AutoUse> autoUse() {
    return Optional.empty();
  }
}

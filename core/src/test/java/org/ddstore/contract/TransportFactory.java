// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import org.ddstore.transport.Transport;

/** Makes the transports of ranks that are threads of this JVM. */
@FunctionalInterface
public interface TransportFactory {
  /** Memory alone. */
  TransportFactory NONE = rank -> new Lease(null, () -> {});

  /** Called once by the thread of each rank. */
  Lease join(int rank);

  /** A transport, and how it is given back. */
  record Lease(Transport transport, Runnable end) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }
}

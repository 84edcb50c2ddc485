// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.function.Function;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.Transport;

/**
 * The connections between the processes of one store, on which both sides have proved the store's
 * token. Every store has them, whatever its transport: they are a transport themselves.
 */
public interface StoreNetwork extends Transport {
  /**
   * Returns the one-sided transport of all ranks of the store in this JVM, closed with this
   * network.
   *
   * @param open function that opens the transport; called for the first rank
   */
  OneSidedTransport oneSided(Function<PeerCalls, OneSidedTransport> open);
}

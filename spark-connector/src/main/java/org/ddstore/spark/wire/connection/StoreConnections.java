// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.util.concurrent.CompletableFuture;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** The connections of this JVM, for one store. Thread-safe. */
public final class StoreConnections {
  private final Connections connections;
  private final StoreToken token;

  public StoreConnections(Connections connections, StoreToken token) {
    this.connections = connections;
    this.token = token;
  }

  public StoreToken token() {
    return token;
  }

  public Nonce store() {
    return token.id();
  }

  public ProcessAddress local() {
    return connections.local();
  }

  /** Returns a connection on which both sides have proved the token. Does not block. */
  public CompletableFuture<Connection> to(ProcessAddress process) {
    return connections.to(process, token);
  }

  /** Returns false if the process is known to have ended. */
  public boolean mayBeAlive(ProcessAddress process) {
    return connections.mayBeAlive(process);
  }

  public boolean isConnected(ProcessAddress process) {
    return connections.isConnected(process);
  }
}

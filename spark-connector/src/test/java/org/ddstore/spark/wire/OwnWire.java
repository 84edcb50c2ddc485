// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.ProcessAddress;

/** Network ends of their own in this JVM, as those of other processes. */
public final class OwnWire {
  private OwnWire() {}

  /** Joins a store by an end that no other session has; closed by the caller. */
  public static WireSession join(StoreToken token, WireOptions options) {
    return Wire.joinAlone(token, options);
  }

  /** True if a session's end has a connection to a process, or is making one. */
  public static boolean isConnected(WireSession session, ProcessAddress process) {
    return session.connections().isConnected(process);
  }
}

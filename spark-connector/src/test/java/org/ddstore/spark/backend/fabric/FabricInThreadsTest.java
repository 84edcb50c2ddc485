// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.TcpInThreadsTest;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.transport.Transport;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, each with ends of its own for questions and for rows. */
@NeedsFabric
@Tag("slow")
class FabricInThreadsTest extends TcpInThreadsTest {
  @Override
  protected Transport transport(WireSession session) {
    return FabricBackend.open(session);
  }
}

package org.ddstore.spark.wire;

import org.ddstore.transport.Transport;

/** Ranks as threads, each with ends of its own for questions and for rows. */
@NeedsFabric
class FabricInThreadsTest extends TcpInThreadsTest {
  @Override
  Transport transport(WireSession session) {
    return FabricBackend.open(session);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.transport.Transport;
import org.junit.jupiter.api.Tag;

/** Ranks as threads, each with ends of its own for questions and for rows. */
@NeedsFabric
@Tag("slow")
class FabricInThreadsTest extends TcpInThreadsTest {
  @Override
  Transport transport(WireSession session) {
    return FabricBackend.open(session);
  }
}

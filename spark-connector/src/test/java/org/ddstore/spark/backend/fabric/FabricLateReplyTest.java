// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.LateReplyContract;
import org.ddstore.spark.wire.TcpBackend;
import org.junit.jupiter.api.Tag;

/** By libfabric: an end that is closed takes nothing any more. */
@NeedsTwoHosts
@NeedsFabric
@Tag("slow")
class FabricLateReplyTest extends LateReplyContract {
  FabricLateReplyTest() {
    super(FabricBackend::of, () -> FabricBackend.open(TcpBackend.session()), 1);
  }
}

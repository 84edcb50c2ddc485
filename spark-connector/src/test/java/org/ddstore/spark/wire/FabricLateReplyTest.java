// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;

/** By libfabric: an end that is closed takes nothing any more. */
@NeedsTwoHosts
@NeedsFabric
class FabricLateReplyTest extends LateReplyContract {
  FabricLateReplyTest() {
    super(FabricBackend::of, () -> FabricBackend.open(TcpBackend.session()), 1);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;

/** By libfabric. */
@NeedsTwoHosts
@NeedsFabric
class FabricUpdatesTest extends UpdatesContract {
  FabricUpdatesTest() {
    super(FabricBackend::of);
  }
}

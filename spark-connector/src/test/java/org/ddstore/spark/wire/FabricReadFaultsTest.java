package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;

/** By libfabric. */
@NeedsTwoHosts
@NeedsFabric
class FabricReadFaultsTest extends ReadFaultsContract {
  FabricReadFaultsTest() {
    super(FabricBackend::of);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.UpdatesContract;
import org.junit.jupiter.api.Tag;

/** By libfabric. */
@NeedsTwoHosts
@NeedsFabric
@Tag("slow")
class FabricUpdatesTest extends UpdatesContract {
  FabricUpdatesTest() {
    super(FabricBackend::of);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.ddstore.hosts.NeedsTwoHosts;
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

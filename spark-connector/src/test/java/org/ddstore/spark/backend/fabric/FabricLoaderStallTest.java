// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.LoaderStallContract;
import org.junit.jupiter.api.Tag;

/** By libfabric over its provider for TCP. */
@NeedsFabric
@Tag("slow")
class FabricLoaderStallTest extends LoaderStallContract {
  FabricLoaderStallTest() {
    super(FabricBackend::of);
  }
}

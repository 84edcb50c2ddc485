// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import org.junit.jupiter.api.Tag;

/** By libfabric over its provider for TCP. */
@NeedsFabric
@Tag("slow")
class FabricLoaderStallTest extends LoaderStallContract {
  FabricLoaderStallTest() {
    super(FabricBackend::of);
  }
}

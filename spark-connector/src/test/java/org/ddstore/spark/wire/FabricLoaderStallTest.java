package org.ddstore.spark.wire;

/** By libfabric over its provider for TCP. */
@NeedsFabric
class FabricLoaderStallTest extends LoaderStallContract {
  FabricLoaderStallTest() {
    super(FabricBackend::of);
  }
}

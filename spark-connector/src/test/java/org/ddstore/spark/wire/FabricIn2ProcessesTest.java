package org.ddstore.spark.wire;

import java.io.IOException;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.StoreContract;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.Tag;

/** All rows by libfabric between 2 processes, over loopback. */
@NeedsFabric
@Tag("system")
class FabricIn2ProcessesTest extends StoreContract {
  FabricIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(FabricBackend.of(TestRoots.sharedMemory()), List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.RowPathContract;
import org.ddstore.contract.TestRoots;
import org.ddstore.spark.wire.connection.StoreToken;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The read contract with a transport that a line in a service file adds, in 2 processes. */
@Tag("system")
class FilesIn2ProcessesTest extends RowPathContract {
  @TempDir static Path directory;

  FilesIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(
        new FilesRanks(
            StoreToken.random(),
            TestRoots.sharedMemory().toString(),
            FilesService.classPath(directory)),
        List.of(Place.HERE));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }
}

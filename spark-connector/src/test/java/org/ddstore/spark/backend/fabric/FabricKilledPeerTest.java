// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.fabric;

import static org.ddstore.spark.wire.Troubles.OTHER;

import java.time.Duration;
import java.util.List;
import org.ddstore.contract.Place;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.TestRoots;
import org.ddstore.spark.wire.FabricBackend;
import org.ddstore.spark.wire.NumberedRows;
import org.ddstore.spark.wire.ReadFaultsContract;
import org.ddstore.spark.wire.Troubles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Rank 0 reads rows of rank 1 by libfabric, over loopback, while rank 1 is killed. {@link
 * FabricReadFaultsTest} does the same, and more, between two hosts.
 */
@NeedsFabric
@Tag("system")
@Timeout(120)
class FabricKilledPeerTest {
  private static final Duration COLLECTIVES = Duration.ofSeconds(60);

  @Test
  void reportsAKilledPeerBeforeTheDeadline() throws Exception {
    try (ProcessRanks ranks =
        new ProcessRanks(FabricBackend.of(TestRoots.sharedMemory()), List.of(Place.HERE))) {
      ranks.offer(Troubles.KILL, () -> ranks.process(OTHER).destroyForcibly());
      ranks.runLosing(OTHER, 2, COLLECTIVES, ReadFaultsContract::lose);
      ranks.run(2, COLLECTIVES, NumberedRows::openStore); // deletes files of the lost process
    }
  }
}

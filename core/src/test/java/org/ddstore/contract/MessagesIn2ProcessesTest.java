// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** 2 processes whose collectives are messages over sockets. */
@Tag("system")
@Tag("slow")
class MessagesIn2ProcessesTest extends RankGroupContract {
  MessagesIn2ProcessesTest() {
    super(2);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(
        new MessagesBackend(TestRoots.sharedMemory().toString()), List.of(Place.HERE));
  }
}

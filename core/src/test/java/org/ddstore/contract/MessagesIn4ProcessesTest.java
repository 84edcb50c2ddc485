// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** 4 processes whose collectives are messages over sockets. */
@Tag("system")
class MessagesIn4ProcessesTest extends RankGroupContract {
  MessagesIn4ProcessesTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return new ProcessRanks(
        new MessagesBackend(TestRoots.sharedMemory().toString()), List.of(Place.HERE));
  }
}

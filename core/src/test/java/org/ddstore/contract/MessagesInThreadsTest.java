// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.StoreOptions;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.SocketMessenger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Ranks as threads whose collectives are messages over sockets, as without any shortcut. */
@Tag("slow")
class MessagesInThreadsTest extends RankGroupContract {
  private SocketMessenger messenger;

  MessagesInThreadsTest() {
    super(4);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    Path root = TestRoots.sharedMemory();
    messenger = SocketMessenger.open();
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    return new ThreadRanks(options, GroupFactory.over(LaneExchange.overMessages(messenger)), root);
  }

  @AfterAll
  void closeMessenger() {
    messenger.close();
  }
}

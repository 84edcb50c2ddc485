// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/**
 * Two hosts with two processes each, of which one has two ranks: a rank reaches others by the same
 * memory, by files and by messages.
 */
class MixedLanesTest extends NetworkContract {
  private static final int[] PROCESS = {0, 2, 1, 2, 0, 3, 0};

  private final List<TestDirectory> hosts = new ArrayList<>();

  @Override
  LaneExchange newExchange(SocketMessenger messenger) throws IOException {
    if (exchanges.size() % 2 == 0) {
      hosts.add(TestDirectory.create());
    }
    return LaneExchange.overFilesAndMessages(hosts.get(hosts.size() - 1).ofProcess(), messenger);
  }

  @Override
  int processOf(int rank) {
    return PROCESS[rank];
  }

  @AfterEach
  void findNothing() throws IOException {
    for (TestDirectory host : hosts) {
      host.close();
    }
  }
}

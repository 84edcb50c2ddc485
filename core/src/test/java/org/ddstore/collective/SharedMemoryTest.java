// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The contract over mapped files, the ranks being threads; {@link SharedMemoryJvmsTest} forks. */
class SharedMemoryTest extends SplitContract {
  private TestDirectory directory;

  @BeforeEach
  void createDirectory() throws IOException {
    directory = TestDirectory.create();
  }

  /** Fails if a file is left, also while the communicators are open. */
  @AfterEach
  void deleteEmptyDirectory() throws IOException {
    directory.close();
  }

  @Override
  List<Communicator> newGroup(int size, Duration timeout) throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      LaneExchange exchange = LaneExchange.overFiles(directory.ofProcess());
      endpoints.add(GroupEndpoint.create(exchange, r, size));
    }
    List<Communicator> group = Ranks.connect(endpoints, timeout);
    directory.assertNoLane();
    return group;
  }
}

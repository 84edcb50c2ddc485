// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import org.junit.jupiter.api.Tag;

/** Ranks of one process without shortcut: its messages go to itself. */
@Tag("slow")
class MessagesInOneProcessTest extends NetworkContract {
  @Override
  LaneExchange newExchange(SocketMessenger messenger) {
    return LaneExchange.overMessages(messenger);
  }

  @Override
  int processOf(int rank) {
    return 0;
  }
}

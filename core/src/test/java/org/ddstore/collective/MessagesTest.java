// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/** Each rank as in a process of its own, all lanes by message. */
class MessagesTest extends NetworkContract {
  @Override
  LaneExchange newExchange(SocketMessenger messenger) {
    return LaneExchange.overMessages(messenger);
  }

  @Override
  int processOf(int rank) {
    return rank;
  }
}

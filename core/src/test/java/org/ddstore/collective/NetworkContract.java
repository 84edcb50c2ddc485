// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** The contract where messages over sockets carry lanes; a subclass says which. */
abstract class NetworkContract extends SplitContract {
  final List<SocketMessenger> messengers = new ArrayList<>();
  final List<LaneExchange> exchanges = new ArrayList<>();

  /** As of a new process, which this class closes. */
  abstract LaneExchange newExchange(SocketMessenger messenger) throws IOException;

  /** Returns the number of the process in which a rank runs. */
  abstract int processOf(int rank);

  @Override
  final List<Communicator> newGroup(int size, Duration timeout) throws Exception {
    List<GroupEndpoint> endpoints = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      while (exchanges.size() <= processOf(rank)) {
        SocketMessenger messenger = SocketMessenger.open();
        messengers.add(messenger);
        exchanges.add(newExchange(messenger));
      }
      endpoints.add(GroupEndpoint.create(exchanges.get(processOf(rank)), rank, size));
    }
    return Ranks.connect(endpoints, timeout);
  }

  @AfterEach
  final void closeExchanges() {
    exchanges.forEach(LaneExchange::close);
    messengers.forEach(SocketMessenger::close);
    for (SocketMessenger messenger : messengers) {
      if (!messenger.refused().isEmpty()) {
        throw new AssertionError("a message of ours was refused", messenger.refused().peek());
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.GroupEndpoint;
import org.ddstore.collective.LaneExchange;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.ProcessDirectory;

/** Makes groups whose ranks are threads of this JVM. */
@FunctionalInterface
public interface GroupFactory {
  /** A group that ranks have still to join. */
  Group create(int ranks, Duration timeout) throws IOException;

  /** Gives each rank its communicator. */
  @FunctionalInterface
  interface Group {
    /** Called once by the thread of each rank; may be collective. */
    Communicator join(int rank) throws IOException;
  }

  /** Groups in the memory of this JVM. */
  static GroupFactory local() {
    return (ranks, timeout) -> LocalGroup.create(ranks, timeout)::get;
  }

  /**
   * Groups over files, as between processes.
   *
   * @param directory stays the caller's, as long as there are groups: its lock says that they live
   */
  static GroupFactory sharedMemory(ProcessDirectory directory) {
    return (ranks, timeout) -> {
      List<GroupEndpoint> endpoints = new ArrayList<>();
      List<byte[]> addresses = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        LaneExchange ofRank = LaneExchange.overFiles(directory);
        endpoints.add(GroupEndpoint.create(ofRank, rank, ranks));
        addresses.add(endpoints.get(rank).address());
      }
      return rank -> endpoints.get(rank).connect(addresses, timeout);
    };
  }

  /**
   * Groups over an exchange of this JVM.
   *
   * @param exchange stays the caller's
   */
  static GroupFactory over(LaneExchange exchange) {
    return (ranks, timeout) -> {
      List<GroupEndpoint> endpoints = new ArrayList<>();
      List<byte[]> addresses = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        endpoints.add(GroupEndpoint.create(exchange, rank, ranks));
        addresses.add(endpoints.get(rank).address());
      }
      return rank -> endpoints.get(rank).connect(addresses, timeout);
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Factory for groups whose ranks are threads of this JVM. */
public final class LocalGroup {
  private LocalGroup() {}

  /**
   * Creates a group and returns the communicator of each rank, in rank order; the users close them.
   * Local, does not block. Takes 0.5 MiB of direct memory per rank, which is freed once no
   * communicator of the group is reachable.
   *
   * @param size number of ranks, in [1, 16384]
   * @param timeout longest wait of a collective, in (0, 365 days]
   * @return one communicator per rank, in rank order
   */
  public static List<Communicator> create(int size, Duration timeout) {
    GroupEndpoint.checkSize(size);
    Communicator.checkTimeout(timeout);
    try {
      LaneExchange exchange = LaneExchange.inMemory();
      List<GroupEndpoint> endpoints = new ArrayList<>();
      List<byte[]> addresses = new ArrayList<>();
      for (int rank = 0; rank < size; rank++) {
        endpoints.add(GroupEndpoint.create(exchange, rank, size));
        addresses.add(endpoints.get(rank).address());
      }
      List<Communicator> communicators = new ArrayList<>();
      for (GroupEndpoint endpoint : endpoints) {
        communicators.add(endpoint.attach(addresses, timeout, new SplitGroups()));
      }
      return List.copyOf(communicators);
    } catch (IOException e) {
      throw new UncheckedIOException("a lane in memory", e);
    }
  }
}

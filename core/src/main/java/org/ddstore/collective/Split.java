// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.types.DDStoreException;

/**
 * The part of one rank in {@link Communicator#split}. Three exchanges in the parent group: the
 * colors, the addresses of the new lanes, and the confirmation that all ranks have reached them. An
 * error of one rank in any of them is raised on all, and the parent group stays usable.
 */
final class Split {
  private final Communicator parent;
  private final LaneExchange exchange;
  private final SplitGroups splitGroups;
  private GroupEndpoint endpoint;
  private Communicator child;

  Split(Communicator parent, LaneExchange exchange, SplitGroups splitGroups) {
    this.parent = parent;
    this.exchange = exchange;
    this.splitGroups = splitGroups;
  }

  Communicator into(int color) {
    List<Integer> members = members(color);
    try {
      byte[][] addresses =
          parent.exchange(
              "split(), lanes",
              () -> {
                endpoint =
                    GroupEndpoint.create(exchange, members.indexOf(parent.rank()), members.size());
                return endpoint.address();
              });
      List<byte[]> memberAddresses = members.stream().map(rank -> addresses[rank]).toList();
      parent.exchange(
          "split(), connect",
          () -> {
            child =
                endpoint.attach(memberAddresses, parent.timeout(), splitGroups, origins(members));
            return new byte[0];
          });
      endpoint.deleteName();
      return child;
    } catch (IOException e) {
      undo(e);
      throw new DDStoreException("split(): cannot delete the name of a lane: " + e, e);
    } catch (RuntimeException | Error e) {
      undo(e);
      throw e;
    }
  }

  private int[] origins(List<Integer> members) {
    return members.stream().mapToInt(parent::origin).toArray();
  }

  private List<Integer> members(int color) {
    byte[][] colors =
        parent.exchange("split()", () -> ByteBuffer.allocate(Integer.BYTES).putInt(color).array());
    List<Integer> members = new ArrayList<>();
    for (int rank = 0; rank < colors.length; rank++) {
      if (ByteBuffer.wrap(colors[rank]).getInt() == color) {
        members.add(rank);
      }
    }
    return members;
  }

  private void undo(Throwable cause) {
    try {
      if (child != null) {
        child.close();
        endpoint.deleteName();
      } else if (endpoint != null) {
        endpoint.close();
      }
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }
}

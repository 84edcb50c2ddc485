// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** The lanes of all ranks of a group, as held by one of them. The creator closes it. */
final class GroupLanes implements AutoCloseable {
  private final LaneExchange exchange;
  private final int rank;
  private final OwnLane own;
  private final Nonce[] nonces;
  private final HeldLane[] held;
  private final WakeSignal wakeSignal = new WakeSignal();

  /** Creates the holder and takes over the own lane and its memory; {@link #attach} must follow. */
  GroupLanes(LaneExchange exchange, OwnLane own, HeldLane ownHeld, LaneAddress address) {
    this.exchange = exchange;
    this.rank = address.rank();
    this.own = own;
    this.nonces = new Nonce[address.size()];
    this.held = new HeldLane[address.size()];
    take(own.nonce(), ownHeld, rank);
  }

  /**
   * Reaches the lanes of all other ranks. Local.
   *
   * @throws IOException if the lane of a rank cannot be reached
   */
  void attach(List<LaneAddress> addresses) throws IOException {
    own.setRanksOf(ranksOf(addresses));
    for (LaneAddress address : addresses) {
      if (address.rank() != rank) {
        take(address.nonce(), exchange.hold(address), address.rank());
      }
    }
  }

  private void take(Nonce nonce, HeldLane lane, int member) {
    nonces[member] = nonce;
    held[member] = lane;
    if (lane.lane() instanceof Mirror mirror) {
      mirror.add(wakeSignal);
    }
  }

  private static Map<ProcessAddress, int[]> ranksOf(List<LaneAddress> addresses) {
    Map<ProcessAddress, int[]> ranks = new LinkedHashMap<>();
    for (LaneAddress address : addresses) {
      if (address.process() != null) {
        ranks.merge(address.process(), new int[] {address.rank()}, GroupLanes::concat);
      }
    }
    return ranks;
  }

  private static int[] concat(int[] some, int[] more) {
    int[] all = Arrays.copyOf(some, some.length + more.length);
    System.arraycopy(more, 0, all, some.length, more.length);
    return all;
  }

  int rank() {
    return rank;
  }

  LaneExchange exchange() {
    return exchange;
  }

  OwnLane own() {
    return own;
  }

  WakeSignal wakeSignal() {
    return wakeSignal;
  }

  Lane[] lanes() {
    return Arrays.stream(held).map(HeldLane::lane).toArray(Lane[]::new);
  }

  /** Returns false only if the process of a rank has certainly ended. Takes at most 1 ms. */
  boolean ownerLives(int member) {
    return held[member].ownerLives();
  }

  /** Releases all lanes; they must not be accessed afterwards. Called once. */
  @Override
  public void close() {
    exchange.retire(own);
    for (int r = 0; r < held.length; r++) {
      if (held[r] != null) {
        if (held[r].lane() instanceof Mirror mirror) {
          mirror.remove(wakeSignal);
        }
        exchange.release(nonces[r], held[r]);
      }
    }
  }
}

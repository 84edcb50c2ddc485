// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.Status;

/**
 * The tickets for data channels: each lets a peer that has proved a store's token open one channel
 * for the store, once and within a time limit. The peer sends the key; this process returns the
 * proof, so that the peer knows that it has reached the process that issued the ticket.
 */
public final class DataTickets {
  /** Kind of a request for a ticket; followed by the store. */
  public static final byte TICKET = 8;

  /** Maximum number of issued tickets that are not used yet. The oldest ones are dropped. */
  static final int MAX_TICKETS = 4096;

  private final long lifeNs;
  private final Map<Nonce, Issued> issued = new LinkedHashMap<>(); // guarded by this

  /** A ticket as the peer receives it: 16 bytes each. */
  record Ticket(Nonce key, Nonce proof) {
    static final int BYTES = 2 * Handshake.STORE_BYTES;

    static Ticket get(ByteBuffer in) {
      return new Ticket(Handshake.getStore(in), Handshake.getStore(in));
    }

    void put(ByteBuffer out) {
      Handshake.putStore(out, key);
      Handshake.putStore(out, proof);
    }
  }

  /**
   * @param store store that the channel may read
   */
  record Issued(Nonce store, Nonce proof, long untilNs) {}

  /**
   * @param life time within which a ticket must be used
   */
  DataTickets(Duration life) {
    this.lifeNs = life.toNanos();
  }

  static ByteBuffer request(Nonce store) {
    ByteBuffer out = ByteBuffer.allocate(1 + Handshake.STORE_BYTES).put(TICKET);
    Handshake.putStore(out, store);
    return out.flip();
  }

  public static ByteBuffer answer(int port, Ticket ticket) {
    ByteBuffer out = ByteBuffer.allocate(1 + Integer.BYTES + Ticket.BYTES);
    ticket.put(out.put(Status.OK).putInt(port));
    return out.flip();
  }

  public static ByteBuffer noPort() {
    return ByteBuffer.allocate(1 + Integer.BYTES).put(Status.OK).putInt(0).flip();
  }

  synchronized Ticket issue(Nonce store) {
    long now = System.nanoTime();
    Iterator<Issued> oldest = issued.values().iterator();
    while (oldest.hasNext()) {
      if (oldest.next().untilNs() - now > 0 && issued.size() < MAX_TICKETS) {
        break;
      }
      oldest.remove();
    }
    Ticket ticket = new Ticket(Nonce.random(), Nonce.random());
    issued.put(ticket.key(), new Issued(store, ticket.proof(), now + lifeNs));
    return ticket;
  }

  /** Returns the ticket with this key and forgets it; null if there is none or it is too old. */
  synchronized Issued redeem(Nonce key) {
    Issued found = issued.remove(key);
    return found == null || found.untilNs() - System.nanoTime() <= 0 ? null : found;
  }
}

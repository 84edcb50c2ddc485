// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.Handshake;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.ReadKey;
import org.ddstore.spark.wire.connection.ServedReads;
import org.ddstore.spark.wire.connection.Status;

/**
 * The owner's side of the beginning of a data channel. The first four bytes tell how the peer shows
 * that it may read a store:
 *
 * <pre>
 * {@link #TICKET} | key of a ticket (16): the answer is the proof of the ticket (16)
 * {@link #READ_KEY} | int32 size | HELLO of a {@link Handshake}, whose identity are {@link ReadClaims}:
 *     the answers are those of the handshake, and the last one is {@link Status#OK} or a reason
 * </pre>
 *
 * <p>Before a valid proof, a peer learns nothing of the stores of this process. Used by one thread.
 */
final class Admission {
  /** The name and version of the protocol for peers with a {@link DataTickets ticket}. */
  static final int TICKET = 0x44445333; // DDS3

  /** The name and version of the protocol for peers with a {@link ReadKey}. */
  static final int READ_KEY = 0x44445231; // DDR1

  /** Maximum size of a greeting: more than those of all claims. */
  static final int MAX_HELLO_BYTES = 256;

  private final DataTickets tickets;
  private final ServedStores stores;
  private ByteBuffer in = ByteBuffer.allocate(Integer.BYTES);
  private Step step = this::takeMagic;
  private Handshake handshake;
  private ReadClaims claims;
  private ReadKey key;
  private Admitted admitted;

  /**
   * A peer that may read.
   *
   * @param claims claims of its key; null for a ticket
   * @param grants grants of the store, which can end the claims; null for a ticket
   * @param reads counters of the reads of the claims; null for a ticket
   */
  record Admitted(Nonce store, ReadClaims claims, ReadGrants grants, ServedReads reads) {
    /** Returns whether the peer may still read. */
    boolean isValid(long nowMs) {
      return claims == null || grants.check(claims, nowMs) == Status.OK;
    }
  }

  /** Takes what the buffer holds, and allocates the buffer for what follows. */
  @FunctionalInterface
  private interface Step {
    void take(ByteBuffer content, ByteChannel channel) throws IOException;
  }

  Admission(DataTickets tickets, ServedStores stores) {
    this.tickets = tickets;
    this.stores = stores;
  }

  /**
   * Reads and answers what has arrived. Does not block, and does not read further than the
   * beginning.
   *
   * @return the peer, or null if more has to arrive
   * @throws SecurityException if the peer is refused; the message is for the log only
   * @throws IllegalArgumentException if the bytes are malformed
   * @throws IOException if the peer has ended
   */
  Admitted read(ByteChannel channel) throws IOException {
    while (admitted == null) {
      if (channel.read(in) < 0) {
        throw new EOFException("the peer has closed a new data channel");
      }
      if (in.hasRemaining()) {
        return null;
      }
      step.take(in.flip(), channel);
    }
    return admitted;
  }

  private void expect(int bytes, Step next) {
    in = ByteBuffer.allocate(bytes);
    step = next;
  }

  private void takeMagic(ByteBuffer content, ByteChannel channel) {
    switch (content.getInt()) {
      case TICKET -> expect(Handshake.STORE_BYTES, this::takeTicket);
      case READ_KEY -> expect(Integer.BYTES, this::takeSize);
      default -> throw new SecurityException("no ticket for a data channel");
    }
  }

  private void takeTicket(ByteBuffer content, ByteChannel channel) throws IOException {
    DataTickets.Issued ticket = tickets.redeem(Handshake.getStore(content));
    if (ticket == null) {
      throw new SecurityException("no ticket for a data channel");
    }
    ByteBuffer proof = ByteBuffer.allocate(Handshake.STORE_BYTES);
    Handshake.putStore(proof, ticket.proof());
    send(channel, proof.flip());
    admitted = new Admitted(ticket.store(), null, null, null);
  }

  private void takeSize(ByteBuffer content, ByteChannel channel) {
    int bytes = content.getInt();
    if (bytes < 1 || bytes > MAX_HELLO_BYTES) {
      throw new IllegalArgumentException("a greeting of %,d bytes".formatted(bytes));
    }
    expect(bytes, this::takeHello);
  }

  private void takeHello(ByteBuffer content, ByteChannel channel) throws IOException {
    try {
      if (content.get() != Handshake.HELLO) {
        throw new IllegalArgumentException("no greeting");
      }
      handshake = Handshake.receive(content);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("a truncated greeting", e);
    }
    claims = ReadClaims.parse(handshake.identity());
    if (!claims.store().equals(handshake.store())) {
      throw new IllegalArgumentException("claims of another store");
    }
    if (handshake.serverId() != stores.processId()) {
      send(channel, ByteBuffer.wrap(new byte[] {Status.OTHER_PROCESS}));
      throw new SecurityException("a greeting of another process");
    }
    ReadGrants grants = stores.grants(handshake.store());
    key = grants != null && grants.isOpen() ? grants.key(claims) : ReadKey.random();
    send(channel, handshake.answer(key));
    expect(Handshake.PROOF_MESSAGE_BYTES, this::takeProof);
  }

  private void takeProof(ByteBuffer content, ByteChannel channel) throws IOException {
    Nonce store = handshake.store();
    if (content.get() != Handshake.PROOF
        || !Handshake.getStore(content).equals(store)
        || !handshake.isProvedBy(content, key)) {
      throw new SecurityException("a wrong proof of a read key");
    }
    // The key is not random: nobody can have proved that. So the store has grants.
    ReadGrants grants = stores.grants(store);
    byte status = grants == null ? Status.GONE : grants.check(claims, System.currentTimeMillis());
    send(channel, ByteBuffer.wrap(new byte[] {status}));
    if (status != Status.OK) {
      throw new SecurityException("a read key that is not valid any more");
    }
    admitted = new Admitted(store, claims, grants, grants.reads(claims));
  }

  /** Sends bytes, which fit into the empty buffer of a new connection. */
  private static void send(ByteChannel channel, ByteBuffer bytes) throws IOException {
    channel.write(bytes);
  }
}

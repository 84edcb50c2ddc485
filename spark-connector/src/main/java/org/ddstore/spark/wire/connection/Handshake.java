// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * A handshake in which two processes prove to each other that they have the same key for a store,
 * before a connection or a data channel carries data of the store. The proofs are HMACs over fresh
 * random bytes of both sides, which prevents replay, and over the roles, which prevents reflection:
 *
 * <pre>
 * client -> HELLO  version, store, client nonce (32), id of the server process, identity
 * server -> status, server nonce (32), HMAC(key, "server" + all of the above)
 * client -> PROOF  store, HMAC(key, "client" + all of the above)
 * server -> status
 * </pre>
 *
 * <p>Processes of Spark have the {@link StoreToken}, and the identity is their address. Others have
 * a {@link ReadKey}, and the identity is its {@link ReadClaims}. Spark's settings determine
 * encryption and integrity protection of the further traffic.
 */
public final class Handshake {
  public static final byte HELLO = 1;
  public static final byte PROOF = 2;
  public static final int STORE_BYTES = 2 * Long.BYTES;
  private static final byte VERSION = 1;
  private static final int NONCE_BYTES = 32;
  private static final int PROOF_BYTES = 32;

  /** Size of the message that {@link #answer} returns, without its status. */
  public static final int ANSWER_BYTES = NONCE_BYTES + PROOF_BYTES;

  /** Size of the message that {@link #prove} returns. */
  public static final int PROOF_MESSAGE_BYTES = 1 + STORE_BYTES + PROOF_BYTES;

  private static final byte[] SERVER = "ddstore server".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CLIENT = "ddstore client".getBytes(StandardCharsets.US_ASCII);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Nonce store;
  private final byte[] clientNonce;
  private final byte[] serverNonce = new byte[NONCE_BYTES];
  private final long serverId;
  private final byte[] identity;

  private Handshake(Nonce store, byte[] clientNonce, long serverId, byte[] identity) {
    this.store = store;
    this.clientNonce = clientNonce;
    this.serverId = serverId;
    this.identity = identity;
  }

  // The client's side.

  /** Begins the client's side in a process of Spark. */
  public static Handshake begin(Nonce store, ProcessAddress server, ProcessAddress client) {
    return begin(store, server.id(), client.toBytes());
  }

  /**
   * Begins the client's side.
   *
   * @param identity what the client says of itself; the key of the server must belong to it
   */
  public static Handshake begin(Nonce store, long serverId, byte[] identity) {
    return new Handshake(store, randomBytes(), serverId, identity.clone());
  }

  public ByteBuffer hello() {
    ByteBuffer out =
        ByteBuffer.allocate(2 + STORE_BYTES + NONCE_BYTES + Long.BYTES + identity.length);
    out.put(HELLO).put(VERSION);
    putStore(out, store);
    return out.put(clientNonce).putLong(serverId).put(identity).flip();
  }

  /**
   * Returns the proof of the client, to be sent to the server.
   *
   * @param answer answer of the server, positioned after its status
   * @throws SecurityException if the server has another key
   */
  public ByteBuffer prove(ByteBuffer answer, ProofKey key) {
    byte[] proof = new byte[PROOF_BYTES];
    answer.get(serverNonce).get(proof);
    if (!MessageDigest.isEqual(proof, key.sign(statement(SERVER)))) {
      throw new SecurityException("the server does not have the key of store " + store);
    }
    ByteBuffer out = ByteBuffer.allocate(1 + STORE_BYTES + PROOF_BYTES).put(PROOF);
    putStore(out, store);
    return out.put(key.sign(statement(CLIENT))).flip();
  }

  // The server's side.

  /**
   * Returns the server's side of the handshake that a greeting begins.
   *
   * @param hello greeting, positioned after its first byte
   * @throws BufferUnderflowException if the greeting is too short
   * @throws IllegalArgumentException if the greeting is malformed
   */
  public static Handshake receive(ByteBuffer hello) {
    byte version = hello.get();
    if (version != VERSION) {
      throw new IllegalArgumentException("unsupported handshake version " + version);
    }
    Nonce store = getStore(hello);
    byte[] clientNonce = new byte[NONCE_BYTES];
    hello.get(clientNonce);
    long serverId = hello.getLong();
    byte[] identity = new byte[hello.remaining()];
    hello.get(identity);
    Handshake received = new Handshake(store, clientNonce, serverId, identity);
    RANDOM.nextBytes(received.serverNonce);
    return received;
  }

  public ByteBuffer answer(ProofKey key) {
    return ByteBuffer.allocate(1 + NONCE_BYTES + PROOF_BYTES)
        .put(Status.OK)
        .put(serverNonce)
        .put(key.sign(statement(SERVER)))
        .flip();
  }

  /** Returns whether the client's proof, positioned after the store, is valid. */
  public boolean isProvedBy(ByteBuffer rest, ProofKey key) {
    byte[] proof = new byte[PROOF_BYTES];
    rest.get(proof);
    return !rest.hasRemaining() && MessageDigest.isEqual(proof, key.sign(statement(CLIENT)));
  }

  public Nonce store() {
    return store;
  }

  public long serverId() {
    return serverId;
  }

  /** Returns a copy of what the client says of itself. */
  public byte[] identity() {
    return identity.clone();
  }

  /**
   * Returns the address of a client that is a process of Spark.
   *
   * @throws IllegalArgumentException if the identity is no address
   */
  public ProcessAddress client() {
    return ProcessAddress.parse(identity);
  }

  public static void putStore(ByteBuffer out, Nonce store) {
    out.putLong(store.high()).putLong(store.low());
  }

  public static Nonce getStore(ByteBuffer in) {
    return new Nonce(in.getLong(), in.getLong());
  }

  private byte[] statement(byte[] role) {
    ByteBuffer out =
        ByteBuffer.allocate(
            role.length + 1 + STORE_BYTES + 2 * NONCE_BYTES + Long.BYTES + identity.length);
    out.put(role).put(VERSION);
    putStore(out, store);
    return out.put(clientNonce).put(serverNonce).putLong(serverId).put(identity).array();
  }

  private static byte[] randomBytes() {
    byte[] bytes = new byte[NONCE_BYTES];
    RANDOM.nextBytes(bytes);
    return bytes;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * A handshake in which two processes prove to each other that they have the token of a store,
 * before a connection carries data of the store. The proofs are HMACs over fresh random bytes of
 * both sides, which prevents replay, and over the roles, which prevents reflection:
 *
 * <pre>
 * client -> HELLO  store, client nonce (32), id of the server process, address of the client
 * server -> status, server nonce (32), HMAC(token, "server" + all of the above)
 * client -> PROOF  store, HMAC(token, "client" + all of the above)
 * server -> status
 * </pre>
 *
 * <p>Spark's settings determine encryption and integrity protection of the further traffic.
 */
final class Handshake {
  static final byte HELLO = 1;
  static final byte PROOF = 2;
  static final int STORE_BYTES = 2 * Long.BYTES;
  private static final byte VERSION = 1;
  private static final int NONCE_BYTES = 32;
  private static final int PROOF_BYTES = 32;
  private static final byte[] SERVER = "ddstore server".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CLIENT = "ddstore client".getBytes(StandardCharsets.US_ASCII);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Nonce store;
  private final byte[] clientNonce;
  private final byte[] serverNonce = new byte[NONCE_BYTES];
  private final long serverId;
  private final ProcessAddress client;

  private Handshake(Nonce store, byte[] clientNonce, long serverId, ProcessAddress client) {
    this.store = store;
    this.clientNonce = clientNonce;
    this.serverId = serverId;
    this.client = client;
  }

  // The client's side.

  static Handshake begin(Nonce store, ProcessAddress server, ProcessAddress client) {
    return new Handshake(store, randomBytes(), server.id(), client);
  }

  ByteBuffer hello() {
    byte[] address = client.toBytes();
    ByteBuffer out =
        ByteBuffer.allocate(2 + STORE_BYTES + NONCE_BYTES + Long.BYTES + address.length);
    out.put(HELLO).put(VERSION);
    putStore(out, store);
    return out.put(clientNonce).putLong(serverId).put(address).flip();
  }

  /**
   * @param answer answer of the server, positioned after its status
   * @return proof of the client, to be sent to the server
   * @throws SecurityException if the server has another token
   */
  ByteBuffer prove(ByteBuffer answer, StoreToken token) {
    byte[] proof = new byte[PROOF_BYTES];
    answer.get(serverNonce).get(proof);
    if (!MessageDigest.isEqual(proof, token.sign(statement(SERVER)))) {
      throw new SecurityException("the server does not have the token of " + token);
    }
    ByteBuffer out = ByteBuffer.allocate(1 + STORE_BYTES + PROOF_BYTES).put(PROOF);
    putStore(out, store);
    return out.put(token.sign(statement(CLIENT))).flip();
  }

  // The server's side.

  /**
   * @param hello greeting, positioned after its first byte
   * @throws BufferUnderflowException if the greeting is too short
   * @throws IllegalArgumentException if the greeting is malformed
   */
  static Handshake receive(ByteBuffer hello) {
    byte version = hello.get();
    if (version != VERSION) {
      throw new IllegalArgumentException("unsupported handshake version " + version);
    }
    Nonce store = getStore(hello);
    byte[] clientNonce = new byte[NONCE_BYTES];
    hello.get(clientNonce);
    long serverId = hello.getLong();
    byte[] address = new byte[hello.remaining()];
    hello.get(address);
    Handshake received = new Handshake(store, clientNonce, serverId, ProcessAddress.parse(address));
    RANDOM.nextBytes(received.serverNonce);
    return received;
  }

  ByteBuffer answer(StoreToken token) {
    return ByteBuffer.allocate(1 + NONCE_BYTES + PROOF_BYTES)
        .put(Status.OK)
        .put(serverNonce)
        .put(token.sign(statement(SERVER)))
        .flip();
  }

  /** Returns whether the client's proof, positioned after the store, is valid. */
  boolean isProvedBy(ByteBuffer rest, StoreToken token) {
    byte[] proof = new byte[PROOF_BYTES];
    rest.get(proof);
    return !rest.hasRemaining() && MessageDigest.isEqual(proof, token.sign(statement(CLIENT)));
  }

  Nonce store() {
    return store;
  }

  long serverId() {
    return serverId;
  }

  ProcessAddress client() {
    return client;
  }

  static void putStore(ByteBuffer out, Nonce store) {
    out.putLong(store.high()).putLong(store.low());
  }

  static Nonce getStore(ByteBuffer in) {
    return new Nonce(in.getLong(), in.getLong());
  }

  private byte[] statement(byte[] role) {
    byte[] address = client.toBytes();
    ByteBuffer out =
        ByteBuffer.allocate(
            role.length + STORE_BYTES + 2 * NONCE_BYTES + Long.BYTES + address.length);
    out.put(role);
    putStore(out, store);
    return out.put(clientNonce).put(serverNonce).putLong(serverId).put(address).array();
  }

  private static byte[] randomBytes() {
    byte[] bytes = new byte[NONCE_BYTES];
    RANDOM.nextBytes(bytes);
    return bytes;
  }
}

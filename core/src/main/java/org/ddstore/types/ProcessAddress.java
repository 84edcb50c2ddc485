// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The network address of a process.
 *
 * @param host name or address that other processes can resolve
 * @param port TCP port, in [1, 65535]
 * @param id random number that distinguishes processes that used the same port
 */
public record ProcessAddress(String host, int port, long id) {
  private static final int MAX_PORT = 65_535;

  /**
   * Creates the value and checks it.
   *
   * @param host name or address that other processes can resolve
   * @param port TCP port, in [1, 65535]
   * @param id random number that distinguishes processes that used the same port
   */
  public ProcessAddress {
    Objects.requireNonNull(host, "host is null");
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("port " + port + " outside [1, " + MAX_PORT + "]");
    }
  }

  /** {@return the address as bytes: port, id, and host in UTF-8; 10 bytes plus the host's} */
  public byte[] toBytes() {
    byte[] hostBytes = host.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Short.BYTES + Long.BYTES + hostBytes.length)
        .putShort((short) port)
        .putLong(id)
        .put(hostBytes)
        .array();
  }

  /**
   * Parses the bytes that {@link #toBytes()} returned.
   *
   * @param bytes bytes of an address
   * @return the address
   * @throws IllegalArgumentException if the bytes are not an address
   */
  public static ProcessAddress parse(byte[] bytes) {
    Objects.requireNonNull(bytes, "bytes is null");
    if (bytes.length <= Short.BYTES + Long.BYTES) {
      throw new IllegalArgumentException(
          "a process address has %d bytes, expected more than %d"
              .formatted(bytes.length, Short.BYTES + Long.BYTES));
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int port = Short.toUnsignedInt(in.getShort());
    long id = in.getLong();
    return new ProcessAddress(StandardCharsets.UTF_8.decode(in).toString(), port, id);
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}

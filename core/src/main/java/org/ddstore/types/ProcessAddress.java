package org.ddstore.types;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Where other processes reach a process over the network.
 *
 * @param host a name or address that they can resolve
 * @param port of TCP, of [1, 65535]
 * @param id random, so that a process that got the port of an earlier one is told from it
 */
public record ProcessAddress(String host, int port, long id) {
  private static final int MAX_PORT = 65_535;

  public ProcessAddress {
    Objects.requireNonNull(host, "host");
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("port " + port + " outside [1, " + MAX_PORT + "]");
    }
  }

  /** The address as bytes: port, id, host in UTF-8; 10 bytes and those of the host. */
  public byte[] toBytes() {
    byte[] hostBytes = host.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Short.BYTES + Long.BYTES + hostBytes.length)
        .putShort((short) port)
        .putLong(id)
        .put(hostBytes)
        .array();
  }

  /**
   * Reads what {@link #toBytes()} gave.
   *
   * @throws IllegalArgumentException if the bytes are not an address
   */
  public static ProcessAddress parse(byte[] bytes) {
    Objects.requireNonNull(bytes, "bytes is null");
    if (bytes.length <= Short.BYTES + Long.BYTES) {
      throw new IllegalArgumentException(
          "a process address of %d bytes, expected more than %d"
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

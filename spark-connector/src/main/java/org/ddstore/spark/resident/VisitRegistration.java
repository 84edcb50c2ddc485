// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * The request of a process to the driver to be asked for its counters. Its answer is empty.
 *
 * @param visit number of the visit; the counters of another visit begin at 0
 * @param executorId Spark's id of the executor
 */
record VisitRegistration(Nonce visit, String executorId, ProcessAddress process) {
  private static final int MAX_ID_BYTES = 64;

  ByteBuffer encode() {
    byte[] id = executorId.getBytes(StandardCharsets.UTF_8);
    byte[] address = process.toBytes();
    return ByteBuffer.allocate(2 * Long.BYTES + 1 + id.length + address.length)
        .putLong(visit.high())
        .putLong(visit.low())
        .put((byte) id.length)
        .put(id)
        .put(address)
        .flip();
  }

  /**
   * @throws IllegalArgumentException if the request is malformed
   * @throws java.nio.BufferUnderflowException if it is truncated
   */
  static VisitRegistration parse(ByteBuffer request) {
    Nonce visit = new Nonce(request.getLong(), request.getLong());
    int length = request.get();
    if (length < 1 || length > MAX_ID_BYTES) {
      throw new IllegalArgumentException("executor id of %d bytes".formatted(length));
    }
    byte[] id = new byte[length];
    request.get(id);
    byte[] address = new byte[request.remaining()];
    request.get(address);
    return new VisitRegistration(
        visit, new String(id, StandardCharsets.UTF_8), ProcessAddress.parse(address));
  }
}

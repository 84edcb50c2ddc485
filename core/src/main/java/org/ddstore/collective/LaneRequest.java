// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/**
 * The message by which a process requests the lane of a rank of another process: its current state,
 * and each piece from now on. Can be sent any number of times. Little-endian:
 *
 * <pre>
 * byte kind | 16 bytes nonce of the lane | int64 posted | byte missed
 * int16 n | n bytes process address
 * </pre>
 *
 * @param posted number of rounds that the sender of the request has received
 * @param missed whether to resend the later pieces, which were lost. Otherwise only the words are
 *     sent. They arrive after all pieces in flight, so rounds that they count and that have not
 *     arrived are lost, and are requested then. This adds no load to a slow network.
 */
record LaneRequest(Nonce lane, long posted, boolean missed, ProcessAddress asker) {
  static final byte KIND = 1;

  ByteBuffer toMessage() {
    byte[] address = asker.toBytes();
    ByteBuffer out =
        ByteBuffer.allocate(LaneUpdate.PREFIX_BYTES + Long.BYTES + 1 + Short.BYTES + address.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    LaneUpdate.putPrefix(out, KIND, lane);
    out.putLong(posted).put((byte) (missed ? 1 : 0));
    return out.putShort((short) address.length).put(address).flip();
  }

  /** Parses the bytes after kind and nonce. */
  static LaneRequest parse(Nonce lane, ByteBuffer in) {
    long posted = in.getLong();
    if (posted < 0) {
      throw new MalformedMessageException(
          "invalid lane request: first round " + posted + " is negative");
    }
    boolean missed = in.get() != 0;
    int length = in.getShort();
    if (length != in.remaining()) {
      throw new MalformedMessageException(
          "invalid lane request: an address of %d bytes, %d bytes left"
              .formatted(length, in.remaining()));
    }
    byte[] address = new byte[length];
    in.get(address);
    return new LaneRequest(lane, posted, missed, ProcessAddress.parse(address));
  }
}

package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.ProcessAddress;
import org.ddstore.memory.Nonce;

/**
 * The message by which a process asks for the lane of a rank of another: for the rounds it does not
 * have now, and for each one from now on. May be sent any number of times. Little-endian:
 *
 * <pre>
 * byte kind | 16 bytes nonce of the lane | int64 posted | process address
 * </pre>
 *
 * @param posted rounds that the asker has, so that only later ones are sent
 */
record LaneAsk(Nonce lane, long posted, ProcessAddress asker) {
  static final byte KIND = 1;

  ByteBuffer toMessage() {
    byte[] address = asker.toBytes();
    ByteBuffer out =
        ByteBuffer.allocate(LaneUpdate.PREFIX_BYTES + Long.BYTES + address.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    LaneUpdate.putPrefix(out, KIND, lane);
    return out.putLong(posted).put(address).flip();
  }

  /** Reads what follows kind and nonce. */
  static LaneAsk parse(Nonce lane, ByteBuffer in) {
    long posted = in.getLong();
    if (posted < 0) {
      throw new MalformedMessageException("asks from round " + posted + " on");
    }
    byte[] address = new byte[in.remaining()];
    in.get(address);
    return new LaneAsk(lane, posted, ProcessAddress.parse(address));
  }
}

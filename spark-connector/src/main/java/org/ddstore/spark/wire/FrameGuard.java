package org.ddstore.spark.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Closes a connection that sends a frame which is too long or of a kind that is not expected,
 * before Spark's decoder acts on it: that one would gather up to 2 GiB for whoever asks. A frame
 * begins with 8 bytes of its whole length and one byte of its type, see {@code
 * org.apache.spark.network.protocol.MessageEncoder}.
 */
final class FrameGuard extends ChannelInboundHandlerAdapter {
  static final String NAME = "ddstoreFrameGuard";

  private static final int HEADER_BYTES = Long.BYTES + 1;
  private static final int STRANGER_MAX_BYTES = 64 << 10;
  private static final int TRUSTED_MAX_BYTES = 4 << 20;
  private static final int MIN_BYTES = HEADER_BYTES + Integer.BYTES;
  private static final int RPC_MIN_BYTES = MIN_BYTES + Long.BYTES;
  private static final int RPC_REQUEST = 3;
  private static final int RPC_RESPONSE = 4;
  private static final int RPC_FAILURE = 5;
  private static final int ONE_WAY = 9;

  private final Refusals refusals;
  private final boolean isClient;
  private volatile boolean trusted;
  private boolean refused;
  private long header;
  private int headerBytes;
  private long left;

  /**
   * @param isClient whether this side opened the connection
   */
  FrameGuard(Refusals refusals, boolean isClient) {
    this.refusals = refusals;
    this.isClient = isClient;
  }

  /** Lets the other side of a channel send what peers send; it has proved a token. */
  static void trust(Channel channel) {
    FrameGuard guard = channel.pipeline().get(FrameGuard.class);
    if (guard != null) {
      guard.trusted = true;
    }
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // nothing depends on when it is closed
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    if (message instanceof ByteBuf bytes) {
      String trouble = refused ? "" : check(bytes);
      if (trouble != null) {
        bytes.release();
        if (!refused) {
          refused = true;
          refusals.report(context.channel().remoteAddress(), trouble);
        }
        context.close();
        return;
      }
    }
    super.channelRead(context, message);
  }

  /** Follows the frames through the bytes, which it leaves as they are; null if all is well. */
  private String check(ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end) {
      if (left > 0) {
        int passed = (int) Math.min(left, end - at);
        left -= passed;
        at += passed;
        continue;
      }
      byte next = bytes.getByte(at++);
      if (headerBytes < Long.BYTES) {
        header = (header << Byte.SIZE) | (next & 0xFF);
        headerBytes++;
      } else {
        String trouble = checkFrame(header, next);
        if (trouble != null) {
          return trouble;
        }
        left = header - HEADER_BYTES;
        headerBytes = 0;
        header = 0;
      }
    }
    return null;
  }

  private String checkFrame(long lengthBytes, byte type) {
    int most = trusted ? TRUSTED_MAX_BYTES : STRANGER_MAX_BYTES;
    boolean rpc = type == RPC_REQUEST || type == RPC_RESPONSE || type == RPC_FAILURE;
    boolean expected =
        trusted ? rpc || type == ONE_WAY : type == RPC_REQUEST ? !isClient : isClient && rpc;
    if (!expected) {
      return "a frame of type " + type + (trusted ? "" : " before the handshake");
    }
    int least = rpc ? RPC_MIN_BYTES : MIN_BYTES;
    if (lengthBytes < least || lengthBytes > most) {
      return "a frame of %,d bytes, outside [%d, %,d]".formatted(lengthBytes, least, most);
    }
    return null;
  }
}

package org.ddstore.spark.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/**
 * Closes a connection that sends a frame which is too long or of a kind that is not expected,
 * before Spark's decoder acts on it: that one would gather up to 2 GiB for whoever asks.
 */
final class FrameGuard extends ChannelDuplexHandler {
  static final String NAME = "ddstoreFrameGuard";

  private final Refusals refusals;
  private final UnprovedConnections unproved;
  private final boolean isClient;
  private final FrameScan scan;
  private volatile boolean trusted;
  private boolean refused;

  private FrameGuard(Refusals refusals, UnprovedConnections unproved) {
    this.refusals = refusals;
    this.unproved = unproved;
    this.isClient = unproved == null;
    this.scan = new FrameScan(isClient);
  }

  /** For a connection that this side has opened. */
  static FrameGuard ofClient(Refusals refusals) {
    return new FrameGuard(refusals, null);
  }

  /**
   * For a connection that the other side has opened.
   *
   * @param unproved has it until a token is proved
   */
  static FrameGuard ofServer(Refusals refusals, UnprovedConnections unproved) {
    return new FrameGuard(refusals, unproved);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    if (!isClient) {
      unproved.add(context.channel());
    }
  }

  /** Lets the other side of a channel send what peers send; it has proved a token. */
  static void trust(Channel channel) {
    FrameGuard guard = channel.pipeline().get(FrameGuard.class);
    if (guard != null && !guard.trusted) {
      guard.trusted = true;
      if (!guard.isClient) {
        guard.unproved.remove(channel);
      }
    }
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // nothing depends on when it is closed
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    if (message instanceof ByteBuf bytes) {
      FrameScan.Trouble trouble = refused ? null : scan.check(bytes, trusted);
      if (trouble != null) {
        refuse(context, trouble.cause(), trouble.detail());
      }
      if (refused) {
        bytes.release();
        return;
      }
    }
    super.channelRead(context, message);
  }

  /**
   * Spark would log, for each stranger that does not wait for the answer, that it failed; and not
   * each kind of its authentication closes a connection that it has refused.
   */
  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the promise is told
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (trusted || isClient) {
      context.write(message, promise);
      return;
    }
    boolean failure = message instanceof ByteBuf frame && FrameScan.isFailure(frame);
    ChannelFuture written = context.write(message);
    written.addListener(done -> promise.trySuccess());
    if (failure) {
      written.addListener(done -> refuse(context, "Spark's authentication failed", ""));
    }
  }

  /** As for {@link #write}: Spark would log it with its stack. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable e) {
    if (trusted || isClient) {
      context.fireExceptionCaught(e);
    } else {
      refuse(context, "it broke before the handshake", e.toString());
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // nothing depends on when it is closed
  private void refuse(ChannelHandlerContext context, String cause, String detail) {
    if (!refused) {
      refused = true;
      refusals.report(context.channel().remoteAddress(), cause, detail);
    }
    context.close();
  }
}

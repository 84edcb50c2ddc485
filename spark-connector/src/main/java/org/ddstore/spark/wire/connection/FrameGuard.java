// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;

/**
 * A handler that closes a connection on a frame that is too long or of an unexpected type, before
 * Spark's decoder allocates memory for it, which can be up to 2 GiB.
 */
public final class FrameGuard extends ChannelDuplexHandler {
  public static final String NAME = "ddstoreFrameGuard";

  private final RefusalLog refusals;
  private final UnauthenticatedConnections unauthenticated;
  private final boolean isClient;
  private final FrameScan scan;
  private volatile boolean trusted;
  private boolean refused;

  private FrameGuard(RefusalLog refusals, UnauthenticatedConnections unauthenticated) {
    this.refusals = refusals;
    this.unauthenticated = unauthenticated;
    this.isClient = unauthenticated == null;
    this.scan = new FrameScan(isClient);
  }

  /** Returns a guard for a connection opened by this side. */
  public static FrameGuard ofClient(RefusalLog refusals) {
    return new FrameGuard(refusals, null);
  }

  /**
   * Returns a guard for a connection opened by the other side.
   *
   * @param unauthenticated registry of the connection until a token is proved
   */
  public static FrameGuard ofServer(
      RefusalLog refusals, UnauthenticatedConnections unauthenticated) {
    return new FrameGuard(refusals, unauthenticated);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    if (!isClient) {
      unauthenticated.add(context.channel());
    }
  }

  /** Allows the other side of a channel all messages of peers, after it has proved a token. */
  static void trust(Channel channel) {
    FrameGuard guard = channel.pipeline().get(FrameGuard.class);
    if (guard != null && !guard.trusted) {
      guard.trusted = true;
      if (!guard.isClient) {
        guard.unauthenticated.remove(channel);
      }
    }
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
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
   * Hides failed writes to unauthenticated clients, which Spark would log, and closes connections
   * that failed Spark's authentication, because not every kind of it does so.
   */
  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the promise is completed
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

  /** Hides errors of unauthenticated clients, which Spark would log with a stack trace. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable e) {
    if (trusted || isClient) {
      context.fireExceptionCaught(e);
    } else {
      refuse(context, "connection error before the handshake", e.toString());
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
  private void refuse(ChannelHandlerContext context, String cause, String detail) {
    if (!refused) {
      refused = true;
      refusals.report(context.channel().remoteAddress(), cause, detail);
    }
    context.close();
  }
}

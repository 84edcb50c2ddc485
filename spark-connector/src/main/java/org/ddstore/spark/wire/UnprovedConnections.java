package org.ddstore.spark.wire;

import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The incoming connections on which no token has been proved yet: a bounded number, each for a
 * bounded time. One more than the bound closes the oldest of the host that has most of them,
 * because a peer proves its token in milliseconds, and a stranger never does.
 */
final class UnprovedConnections {
  /** More than the processes of a large application that connect at the same moment. */
  static final int MOST = 1024;

  private final Refusals refusals;
  private final int most;
  private final Duration deadline;
  private final Map<Channel, ScheduledFuture<?>> open = new LinkedHashMap<>(); // guarded by this

  /**
   * @param most connections at a time
   * @param deadline after which one is closed
   */
  UnprovedConnections(Refusals refusals, int most, Duration deadline) {
    this.refusals = refusals;
    this.most = most;
    this.deadline = deadline;
  }

  /** Adds a connection that has just been opened. */
  @SuppressWarnings("FutureReturnValueIgnored") // nothing depends on when it is closed
  void add(Channel channel) {
    ScheduledFuture<?> end =
        channel
            .eventLoop()
            .schedule(() -> expire(channel), deadline.toMillis(), TimeUnit.MILLISECONDS);
    Channel oldest = null;
    synchronized (this) {
      open.put(channel, end);
      if (open.size() > most) {
        oldest = oldestOfTheLargestHost();
      }
    }
    channel.closeFuture().addListener(closed -> remove(channel));
    if (oldest != null) {
      close(oldest, "too many connections before the handshake", "more than " + most);
    }
  }

  private Channel oldestOfTheLargestHost() {
    Map<Object, Integer> counts = new HashMap<>();
    open.keySet().forEach(channel -> counts.merge(host(channel), 1, Integer::sum));
    Object largest = Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
    return open.keySet().stream()
        .filter(channel -> host(channel).equals(largest))
        .findFirst()
        .orElseThrow();
  }

  private static Object host(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address
        ? address.getHostString()
        : "unknown";
  }

  private void expire(Channel channel) {
    close(channel, "no handshake in time", "within %d ms".formatted(deadline.toMillis()));
  }

  /** Closes a connection that has not proved a token meanwhile. */
  @SuppressWarnings("FutureReturnValueIgnored") // nothing depends on when it is closed
  private void close(Channel channel, String cause, String detail) {
    if (remove(channel)) {
      refusals.report(channel.remoteAddress(), cause, detail);
      channel.close();
    }
  }

  /** Removes a connection that has ended or proved a token; returns whether it was here. */
  boolean remove(Channel channel) {
    ScheduledFuture<?> end;
    synchronized (this) {
      end = open.remove(channel);
    }
    if (end != null) {
      end.cancel(false);
    }
    return end != null;
  }

  synchronized int count() {
    return open.size();
  }
}

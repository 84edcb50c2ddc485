// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The incoming connections without a proved token, bounded in number and time. If the bound is
 * exceeded, the oldest connection of the host with the most connections is closed, because a peer
 * proves its token within milliseconds and a stranger never does.
 */
public final class UnauthenticatedConnections {
  /** Maximum number, larger than the concurrent connection attempts of a large application. */
  public static final int MAX_CONNECTIONS = 1024;

  private final RefusalLog refusals;
  private final int maxConnections;
  private final Duration deadline;
  private final Map<Channel, ScheduledFuture<?>> open = new LinkedHashMap<>(); // guarded by this

  /**
   * @param maxConnections maximum number of connections
   * @param deadline time after which a connection is closed
   */
  public UnauthenticatedConnections(RefusalLog refusals, int maxConnections, Duration deadline) {
    this.refusals = refusals;
    this.maxConnections = maxConnections;
    this.deadline = deadline;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
  void add(Channel channel) {
    ScheduledFuture<?> end =
        channel
            .eventLoop()
            .schedule(() -> expire(channel), deadline.toMillis(), TimeUnit.MILLISECONDS);
    Channel oldest = null;
    synchronized (this) {
      open.put(channel, end);
      if (open.size() > maxConnections) {
        oldest = oldestOfTheLargestHost(open.keySet(), UnauthenticatedConnections::host);
      }
    }
    channel.closeFuture().addListener(closed -> remove(channel));
    if (oldest != null) {
      close(oldest, "too many connections before the handshake", "more than " + maxConnections);
    }
  }

  /**
   * Returns the first element of the host that has most, so that nobody else pays for a flood.
   *
   * @param all elements by age, at least one
   */
  public static <T> T oldestOfTheLargestHost(Collection<T> all, Function<T, Object> host) {
    Map<Object, Integer> counts = new HashMap<>();
    all.forEach(each -> counts.merge(host.apply(each), 1, Integer::sum));
    Object largest = Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
    return all.stream().filter(each -> host.apply(each).equals(largest)).findFirst().orElseThrow();
  }

  private static Object host(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address
        ? address.getHostString()
        : "unknown";
  }

  private void expire(Channel channel) {
    close(channel, "no handshake in time", "within %d ms".formatted(deadline.toMillis()));
  }

  /** Closes a connection unless it has proved a token meanwhile. */
  @SuppressWarnings("FutureReturnValueIgnored") // the time of closing does not matter
  private void close(Channel channel, String cause, String detail) {
    if (remove(channel)) {
      refusals.report(channel.remoteAddress(), cause, detail);
      channel.close();
    }
  }

  /** Removes a connection that has ended or proved a token; returns whether it was present. */
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

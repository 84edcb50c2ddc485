// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rate-limited log of refused connections and of requests that failed unexpectedly: one line per
 * host and {@link #INTERVAL}, without a stack trace, and a bounded number of lines over all hosts.
 * Further reports are counted, and the next line of the host contains the count.
 */
public final class RefusalLog {
  public static final Duration INTERVAL = Duration.ofSeconds(60);

  /** Maximum number of lines per interval over all hosts. */
  static final int MAX_LINES = 50;

  private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);
  private static final int MAX_HOSTS = 1000;
  private static final int DETAIL_CHARACTERS = 200;

  private final LongSupplier clockNs;
  private final Map<String, Host> hosts = new LinkedHashMap<>(); // guarded by this
  private long intervalNs; // start of the current interval; guarded by this
  private int lines; // in the current interval; guarded by this

  /** The reports of one host. */
  private static final class Host {
    private long loggedNs;
    private long unlogged;
  }

  public RefusalLog() {
    this(System::nanoTime);
  }

  /**
   * @param clockNs clock in nanoseconds, such as {@link System#nanoTime}
   */
  public RefusalLog(LongSupplier clockNs) {
    this.clockNs = clockNs;
    this.intervalNs = clockNs.getAsLong();
  }

  /**
   * Reports a refused connection.
   *
   * @param cause cause, one of a few constant texts
   * @param detail illegal content of the message; can be empty
   */
  public void report(SocketAddress from, String cause, String detail) {
    String what = detail == null || detail.isEmpty() ? cause : cause + ": " + truncate(detail);
    log("connection refused", from, what);
  }

  /** Reports a request or message that failed unexpectedly in this process. */
  public void reportFailure(SocketAddress from, Throwable e) {
    log("request failed", from, truncate(e.toString()));
    LOG.debug("request of {} failed", from, e);
  }

  private void log(String problem, SocketAddress from, String what) {
    String host = hostOf(from);
    long before = linesBefore(host);
    if (before < 0) {
      LOG.debug("peer {}: {}: {}", from, problem, what);
    } else {
      LOG.warn(
          "peer {}: {}: {}; {} more before, further ones are counted for {} s",
          host,
          problem,
          what,
          before,
          INTERVAL.toSeconds());
    }
  }

  private static String hostOf(SocketAddress from) {
    return from instanceof InetSocketAddress address && address.getAddress() != null
        ? address.getAddress().getHostAddress()
        : String.valueOf(from);
  }

  /** Returns the number of reports since the last line of a host; -1 if no line is due. */
  private synchronized long linesBefore(String name) {
    long nowNs = clockNs.getAsLong();
    if (nowNs - intervalNs >= INTERVAL.toNanos()) {
      intervalNs = nowNs;
      lines = 0;
    }
    Host host = hosts.remove(name);
    boolean due = host == null || nowNs - host.loggedNs >= INTERVAL.toNanos();
    if (host == null) {
      host = new Host();
      host.loggedNs = nowNs - INTERVAL.toNanos();
    }
    hosts.put(name, host); // most recent entry
    if (hosts.size() > MAX_HOSTS) {
      hosts.remove(hosts.keySet().iterator().next());
    }
    if (!due || lines == MAX_LINES) {
      host.unlogged++;
      return -1;
    }
    lines++;
    long before = host.unlogged;
    host.unlogged = 0;
    host.loggedNs = nowNs;
    return before;
  }

  /** Truncates a detail, because some exceptions contain the whole message. */
  private static String truncate(String detail) {
    return detail.length() <= DETAIL_CHARACTERS
        ? detail
        : detail.substring(0, DETAIL_CHARACTERS) + "..";
  }
}

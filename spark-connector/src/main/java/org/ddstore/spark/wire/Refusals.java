package org.ddstore.spark.wire;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once for each cause and host that a message was refused: a flood must not fill the log,
 * however many different numbers it sends.
 */
final class Refusals {
  private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);
  private static final int MOST = 1000;

  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /**
   * @param cause one of a few
   * @param detail what the message had in place of something legal; may be empty
   */
  void report(SocketAddress from, String cause, String detail) {
    String host =
        from instanceof InetSocketAddress address
            ? address.getAddress().getHostAddress()
            : String.valueOf(from);
    String what = detail.isEmpty() ? cause : cause + ": " + detail;
    if (said.size() < MOST && said.add(host + cause)) {
      LOG.warn("refused a connection from {}: {}; further ones are not reported", host, what);
    } else {
      LOG.debug("refused a connection from {}: {}", from, what);
    }
  }
}

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
  private static final int DETAIL_CHARACTERS = 200;

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
    String what = detail.isEmpty() ? cause : cause + ": " + cut(detail);
    if (said.size() < MOST && said.add(host + cause)) {
      LOG.warn("refused a connection from {}: {}; further ones are not reported", host, what);
    } else {
      LOG.debug("refused a connection from {}: {}", from, what);
    }
  }

  /** Some exceptions hold all that was sent. */
  private static String cut(String detail) {
    return detail.length() <= DETAIL_CHARACTERS
        ? detail
        : detail.substring(0, DETAIL_CHARACTERS) + "..";
  }
}

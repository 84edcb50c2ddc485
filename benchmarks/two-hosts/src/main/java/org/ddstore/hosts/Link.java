// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The link of {@link TwoHosts}, a veth pair that can be cut and slowed down. Each method affects
 * both directions and returns when the change is in effect. Not thread-safe.
 */
public final class Link {
  // Locally administered addresses.
  private static final String FIRST_MAC = "02:00:00:00:00:01";
  private static final String SECOND_MAC = "02:00:00:00:00:02";
  private static final String NOBODYS_MAC = "02:00:00:00:00:ff";

  private static final String UP = "link set dev %s up%n".formatted(Host.INTERFACE);
  private static final String DOWN = "link set dev %s down%n".formatted(Host.INTERFACE);

  /** At least the largest frame: tbf drops frames larger than its bucket. */
  private static final long BURST_BYTES = 4096;

  /** Queue of a slow link, beyond which packets are dropped: a large buffer as in routers. */
  private static final long QUEUE_BYTES = 4 << 20;

  private final Host first;
  private final Host second;
  private boolean shaped;

  private Link(Host first, Host second) {
    this.first = first;
    this.second = second;
  }

  /** Connects two hosts, without IPv6, whose announcements would distort the byte counters. */
  static Link connect(Host first, Host second) throws IOException {
    String add =
        "link add dev %1$s address %2$s type veth peer name %1$s address %3$s netns %4$d%n"
            .formatted(Host.INTERFACE, FIRST_MAC, SECOND_MAC, second.holderPid());
    ip(first, add);
    for (Host host : List.of(first, second)) {
      ip(
          host,
          "address add %2$s/24 dev %1$s%nlink set dev %1$s addrgenmode none%n"
              .formatted(Host.INTERFACE, host.address()));
    }
    Link link = new Link(first, second);
    link.restore();
    return link;
  }

  /** Takes the interfaces down: a sender fails at once with "network is unreachable". */
  public void down() throws IOException {
    ip(first, DOWN);
    ip(second, DOWN);
  }

  /**
   * Drops every packet without notice to the sender, like a cut cable on a longer route. Sent bytes
   * are still counted.
   */
  public void drop() throws IOException {
    ip(first, neighbour(second, NOBODYS_MAC));
    ip(second, neighbour(first, NOBODYS_MAC));
  }

  /**
   * Limits the rate of each direction; replaces an earlier {@link #slow} or {@link #delay}. Up to 4
   * MiB are queued, further packets are dropped; short messages pass at once on an idle link.
   *
   * @param bytesPerSecond rate of each direction, at least 1,000
   */
  public void slow(long bytesPerSecond) throws IOException {
    if (bytesPerSecond < 1000) {
      throw new IllegalArgumentException("bytesPerSecond: " + bytesPerSecond + " below 1000");
    }
    shape("tbf rate %dbps burst %db limit %db".formatted(bytesPerSecond, BURST_BYTES, QUEUE_BYTES));
  }

  /**
   * Delays every packet; replaces an earlier {@link #slow} or {@link #delay}.
   *
   * @param delay delay of each direction
   * @throws IOException if this kernel has no netem, see {@link #missingForDelay}
   */
  public void delay(Duration delay) throws IOException {
    shape("netem delay %dus limit 100000".formatted(delay.toNanos() / 1000));
  }

  /** Returns why {@link #delay} is unavailable, determined by a trial; empty if it is available. */
  public Optional<String> missingForDelay() throws IOException {
    try {
      first.run("", "tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "1us");
    } catch (IOException e) {
      return Optional.of("no netem in this kernel: " + e.getMessage());
    }
    first.run("", "tc", "qdisc", "delete", "dev", "lo", "root");
    return Optional.empty();
  }

  /** Undoes all of the above. After a long cut, TCP retransmits only after several seconds. */
  public void restore() throws IOException {
    ip(first, UP + neighbour(second, SECOND_MAC));
    ip(second, UP + neighbour(first, FIRST_MAC));
    if (shaped) {
      for (Host host : List.of(first, second)) {
        host.run("", "tc", "qdisc", "delete", "dev", Host.INTERFACE, "root");
      }
      shaped = false;
    }
  }

  private void shape(String discipline) throws IOException {
    String[] words =
        ("tc qdisc replace dev " + Host.INTERFACE + " root " + discipline).split(" ", -1);
    for (Host host : List.of(first, second)) {
      host.run("", words);
      shaped = true;
    }
  }

  /** Returns a fixed neighbour entry, so that ARP does not influence what a sender sees. */
  private static String neighbour(Host host, String mac) {
    return "neighbour replace %s lladdr %s dev %s nud permanent%n"
        .formatted(host.address(), mac, Host.INTERFACE);
  }

  private static void ip(Host host, String lines) throws IOException {
    host.run(lines, "ip", "-batch", "-");
  }
}

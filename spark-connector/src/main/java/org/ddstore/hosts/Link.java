package org.ddstore.hosts;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The link of {@link TwoHosts}, a veth pair: may be cut and slowed down. Each method works on both
 * directions and returns when it is done. For one thread at a time.
 */
public final class Link {
  // Locally administered addresses.
  private static final String FIRST_MAC = "02:00:00:00:00:01";
  private static final String SECOND_MAC = "02:00:00:00:00:02";
  private static final String NOBODYS_MAC = "02:00:00:00:00:ff";

  private static final String UP = "link set dev %s up%n".formatted(Host.INTERFACE);
  private static final String DOWN = "link set dev %s down%n".formatted(Host.INTERFACE);

  /** Enough for the largest frame: tbf lets through only what its bucket can hold. */
  private static final long BURST_BYTES = 4096;

  /** What may wait for a slow link before packets are lost: a large buffer, as routers have. */
  private static final long QUEUE_BYTES = 4 << 20;

  private final Host first;
  private final Host second;
  private boolean shaped;

  private Link(Host first, Host second) {
    this.first = first;
    this.second = second;
  }

  /** Without IPv6: its announcements would come into the counters of bytes. */
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

  /** Takes the interfaces down: who sends learns at once that the network is unreachable. */
  public void down() throws IOException {
    ip(first, DOWN);
    ip(second, DOWN);
  }

  /**
   * Loses every packet without a word to the sender, as a cable cut somewhere on a longer way.
   * Counters go on counting what is sent.
   */
  public void drop() throws IOException {
    ip(first, neighbour(second, NOBODYS_MAC));
    ip(second, neighbour(first, NOBODYS_MAC));
  }

  /**
   * Lets only so many bytes through in each direction, in place of what {@link #slow} or {@link
   * #delay} did before. Up to 4 MiB wait, more are lost; short messages pass at once while nothing
   * else is under way.
   *
   * @param bytesPerSecond at least 1,000
   */
  public void slow(long bytesPerSecond) throws IOException {
    if (bytesPerSecond < 1000) {
      throw new IllegalArgumentException(bytesPerSecond + " bytes/s, at least 1000 are needed");
    }
    shape("tbf rate %dbps burst %db limit %db".formatted(bytesPerSecond, BURST_BYTES, QUEUE_BYTES));
  }

  /**
   * Holds every packet back, in place of what {@link #slow} or this did before.
   *
   * @param delay of each direction
   * @throws IOException if this kernel has no netem, see {@link #missingForDelay}
   */
  public void delay(Duration delay) throws IOException {
    shape("netem delay %dus limit 100000".formatted(delay.toNanos() / 1000));
  }

  /** Why {@link #delay} cannot work here, found out by trying; empty if it can. */
  public Optional<String> missingForDelay() throws IOException {
    try {
      first.run("", "tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "1us");
    } catch (IOException e) {
      return Optional.of("no netem in this kernel: " + e.getMessage());
    }
    first.run("", "tc", "qdisc", "delete", "dev", "lo", "root");
    return Optional.empty();
  }

  /**
   * Undoes all the above. TCP tries again in its own time, some seconds after a long cut: wait for
   * what comes.
   */
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

  /** Fixed, so that no answer to an ARP request, or the want of one, decides what a sender sees. */
  private static String neighbour(Host host, String mac) {
    return "neighbour replace %s lladdr %s dev %s nud permanent%n"
        .formatted(host.address(), mac, Host.INTERFACE);
  }

  private static void ip(Host host, String lines) throws IOException {
    host.run(lines, "ip", "-batch", "-");
  }
}

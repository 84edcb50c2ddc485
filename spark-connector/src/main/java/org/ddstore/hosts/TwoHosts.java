package org.ddstore.hosts;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Two hosts on one machine, joined by a link and by nothing else: network, host name and mount
 * namespaces, each with a boot id of its own, kept by a process that ends with this JVM, however
 * that ends.
 *
 * <pre>
 *   host 1: eth0 10.77.0.1, /dev/shm  ----  veth  ----  host 2: eth0 10.77.0.2, /dev/shm
 * </pre>
 *
 * <p>Nothing of this is seen by the machine's own network, so any number of pairs may be open at a
 * time, and the same addresses serve all of them. Who opens it, closes it; processes that run on
 * the hosts then are killed. See {@link Requirements} for what it takes.
 */
public final class TwoHosts implements AutoCloseable {
  private static final String FIRST_ADDRESS = "10.77.0.1";
  private static final String SECOND_ADDRESS = "10.77.0.2";

  private final List<Holder> holders;
  private final Host first;
  private final Host second;
  private final Link link;

  private TwoHosts(List<Holder> holders, Host first, Host second) throws IOException {
    this.holders = holders;
    this.first = first;
    this.second = second;
    this.link = Link.connect(first, second);
  }

  /**
   * Takes about 100 ms.
   *
   * @throws IOException if a program fails, with what it said
   */
  public static TwoHosts open() throws IOException {
    int random = ThreadLocalRandom.current().nextInt();
    String name =
        "dds-" + ProcessHandle.current().pid() + "-" + HexFormat.of().toHexDigits((short) random);
    String firstName = name + "-1";
    String secondName = name + "-2";
    String hostsFile =
        "127.0.0.1 localhost%n%s %s%n%s %s%n"
            .formatted(FIRST_ADDRESS, firstName, SECOND_ADDRESS, secondName);
    Holder firstHolder = Holder.start(firstName, hostsFile);
    try {
      Holder secondHolder = Holder.start(secondName, hostsFile);
      try {
        return new TwoHosts(
            List.of(firstHolder, secondHolder),
            new Host(firstHolder, firstName, FIRST_ADDRESS),
            new Host(secondHolder, secondName, SECOND_ADDRESS));
      } catch (IOException | RuntimeException e) {
        closeAfter(secondHolder, e);
        throw e;
      }
    } catch (IOException | RuntimeException e) {
      closeAfter(firstHolder, e);
      throw e;
    }
  }

  private static void closeAfter(Holder holder, Exception cause) {
    try {
      holder.close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  public Host first() {
    return first;
  }

  public Host second() {
    return second;
  }

  public Link link() {
    return link;
  }

  /** Bytes that went over the link, both ways, headers included. */
  public long sentBytes() throws IOException {
    return first.sentBytes() + second.sentBytes();
  }

  /**
   * Kills what still runs on the hosts and waits for its end; the kernel frees the rest.
   * Idempotent.
   */
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (Holder holder : holders) {
      try {
        holder.close();
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public String toString() {
    return "TwoHosts[" + first + ", " + second + "]";
  }
}

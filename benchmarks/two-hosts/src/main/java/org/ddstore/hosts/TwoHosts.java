// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Two hosts on one machine, connected only by a link: network, host name and mount namespaces with
 * separate boot ids, held by processes that exit with this JVM, even if it is killed.
 *
 * <pre>
 *   host 1: eth0 10.77.0.1, /dev/shm  ----  veth  ----  host 2: eth0 10.77.0.2, /dev/shm
 * </pre>
 *
 * <p>The machine's own network is not affected, so any number of pairs can be open at a time, all
 * with the same addresses. Closed by the caller; {@link #close()} kills the processes that run on
 * the hosts. See {@link Requirements}.
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
   * Creates two hosts and their link. Takes about 100 ms.
   *
   * @throws IOException if a program fails; contains its output
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

  /** Returns the number of bytes sent over the link in both directions, including headers. */
  public long sentBytes() throws IOException {
    return first.sentBytes() + second.sentBytes();
  }

  /**
   * Kills the processes on the hosts and waits for their exit; the kernel frees the rest.
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

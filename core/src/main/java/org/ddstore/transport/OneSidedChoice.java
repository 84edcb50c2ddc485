// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.Objects;

/**
 * The selection of a one-sided transport in a process, or the reason why none is available.
 *
 * @param means key of the selection; processes with equal keys can read from each other; empty if
 *     none is available
 * @param rdma whether it uses RDMA hardware
 * @param provider name of the provider in the library
 * @param networkInterface name of the network interface on this host
 * @param host address that endpoints are bound to; empty if the interface determines it
 * @param detail human-readable selection and its reason, or what is missing and the remedy
 */
public record OneSidedChoice(
    String means,
    boolean rdma,
    String provider,
    String networkInterface,
    String host,
    String detail) {
  public OneSidedChoice {
    Objects.requireNonNull(means, "means is null");
    Objects.requireNonNull(detail, "detail is null");
  }

  /** Returns a choice without a transport. */
  public static OneSidedChoice none(String reason) {
    return new OneSidedChoice("", false, "", "", "", reason);
  }

  public boolean isAvailable() {
    return !means.isEmpty();
  }

  /** Returns whether the transport can be opened, with the detail. */
  public Availability availability() {
    return new Availability(isAvailable(), detail);
  }
}

package org.ddstore.transport;

import java.util.Objects;

/**
 * What a process would use of a one-sided transport, or why there is nothing.
 *
 * @param means what it uses; processes can read from each other if this is equal. Empty: nothing
 * @param rdma whether it uses RDMA hardware
 * @param provider by the library's name
 * @param networkInterface by its name here
 * @param host to which ends are bound; empty if the interface alone says
 * @param detail for people: what was chosen and why, or what is missing and what helps
 */
public record OneSidedChoice(
    String means,
    boolean rdma,
    String provider,
    String networkInterface,
    String host,
    String detail) {
  public OneSidedChoice {
    Objects.requireNonNull(means, "means");
    Objects.requireNonNull(detail, "detail");
  }

  /** Nothing can be used. */
  public static OneSidedChoice none(String reason) {
    return new OneSidedChoice("", false, "", "", "", reason);
  }

  /** True if it can be opened. */
  public boolean isAvailable() {
    return !means.isEmpty();
  }
}

package org.ddstore.transport;

import java.util.Objects;

/**
 * What the user and the place of a process say of the choice.
 *
 * @param provider the only one that may be taken, by the name that the library has for it; empty
 *     for any
 * @param networkInterface the only one that may be used, by its name here; empty for the nearest
 * @param host the address of this process that others reach, to which software providers are bound
 * @param index of this process among those of its host, about: nearest interfaces are taken in turn
 */
public record OneSidedOptions(String provider, String networkInterface, String host, int index) {
  public OneSidedOptions {
    Objects.requireNonNull(provider, "provider");
    Objects.requireNonNull(networkInterface, "networkInterface");
    host =
        host.replaceAll("^\\[|\\]$", ""); // of a numeric IPv6 address, which Spark puts in brackets
  }
}

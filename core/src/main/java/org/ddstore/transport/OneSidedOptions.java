// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.Objects;

/**
 * Constraints on the selection of a one-sided transport.
 *
 * @param provider name of the required provider in the library; empty for any
 * @param networkInterface name of the required network interface on this host; empty for the
 *     nearest
 * @param host address of this process that others can reach; software providers are bound to it
 * @param index approximate index of this process on its host; equally near interfaces are used in
 *     turn
 */
public record OneSidedOptions(String provider, String networkInterface, String host, int index) {
  public OneSidedOptions {
    Objects.requireNonNull(provider, "provider is null");
    Objects.requireNonNull(networkInterface, "networkInterface is null");
    host = host.replaceAll("^\\[|\\]$", ""); // Spark puts numeric IPv6 addresses in brackets
  }
}

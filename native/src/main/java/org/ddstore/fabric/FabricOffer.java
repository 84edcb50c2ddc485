// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.util.Arrays;
import java.util.Set;

/**
 * A way of libfabric on this host to read the memory of other processes.
 *
 * @param provider provider name, such as {@code verbs;ofi_rxm}: the provider that reaches the wire,
 *     and the layers above it
 * @param domain name of the interface or device
 * @param addressForm libfabric's number of the address format
 * @param pciDevice PCI device name as in sysfs; empty if unknown
 */
record FabricOffer(String provider, String domain, String addressForm, String pciDevice) {
  private static final Set<String> RDMA =
      Set.of("verbs", "efa", "cxi", "psm", "psm2", "psm3", "opx", "gni", "ucx", "mlx");

  /**
   * RDMA providers whose reads end in the device, without the owner's processors. With the other
   * providers a program may answer the reads on some devices: efa on devices without reads, psm2,
   * psm3 and opx on all; and ofi_rxd, layered on any provider, turns reads into messages.
   */
  private static final Set<String> SERVED_BY_DEVICE = Set.of("verbs", "cxi", "gni", "ucx", "mlx");

  /** Software provider over TCP, for endpoints without connections. */
  static final String TCP = "tcp";

  /**
   * Names of the TCP provider: {@code net} in 1.17, the one release that has it beside an older
   * {@code tcp}. No other software provider is used: shm does not check keys and leaves files,
   * sockets takes milliseconds, udp loses data, and the behaviour of the others is unknown.
   */
  private static final Set<String> SOFTWARE = Set.of(TCP, "net");

  /**
   * Provider used only if the user names it: up to libfabric 1.17 it ends the process when an
   * endpoint is closed while the answer to a read has partly arrived.
   */
  static final String LAYERED_TCP = "tcp;ofi_rxm";

  boolean isRdma() {
    return RDMA.contains(core());
  }

  /** Returns whether a deregistration alone ends all reads, because no program answers them. */
  static boolean isServedByDevice(String provider) {
    return SERVED_BY_DEVICE.contains(core(provider)) && !provider.endsWith(";ofi_rxd");
  }

  /** Returns whether it is usable for a user who wants a provider; an empty text is any. */
  boolean isLegal(String wanted) {
    if (isRdma()) {
      return wanted.isEmpty() || provider.equals(wanted) || core().equals(wanted);
    }
    return SOFTWARE.contains(provider)
        ? wanted.isEmpty() || wanted.equals(TCP) || wanted.equals(provider)
        : provider.equals(LAYERED_TCP) && wanted.equals(LAYERED_TCP);
  }

  /** Returns the transport name that must be equal on processes that read from each other. */
  String means() {
    return provider + "/" + addressForm;
  }

  /** Returns the provider that reaches the wire. */
  private String core() {
    return core(provider);
  }

  private static String core(String provider) {
    return Arrays.asList(provider.split(";", -1)).get(0);
  }
}

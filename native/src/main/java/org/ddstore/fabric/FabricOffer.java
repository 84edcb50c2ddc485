package org.ddstore.fabric;

import java.util.Arrays;
import java.util.Set;

/**
 * A way to read the memory of other processes that libfabric has on this host.
 *
 * @param provider {@code verbs;ofi_rxm} for example: the one that reaches the wire, and what is
 *     above it
 * @param domain the name of the interface or device
 * @param addressForm the number that libfabric has for the form of its addresses
 * @param pciDevice as sysfs names it, empty if it is not known
 */
record FabricOffer(String provider, String domain, String addressForm, String pciDevice) {
  private static final Set<String> RDMA =
      Set.of("verbs", "efa", "cxi", "psm", "psm2", "psm3", "opx", "gni", "ucx", "mlx");

  /**
   * Of those, the ones by which reads end in the device: the owner's processors take no part. By
   * the others they may, on some devices, be answered by a program: efa does so for devices without
   * reads, psm2, psm3 and opx for all; and ofi_rxd, layered on any, makes reads of messages.
   */
  private static final Set<String> SERVED_BY_DEVICE = Set.of("verbs", "cxi", "gni", "ucx", "mlx");

  /** The one in software, over TCP, for endpoints without connections. */
  static final String TCP = "tcp";

  /**
   * What it is called: {@code net} in the one release that has it beside an older {@code tcp},
   * 1.17. All others in software are never taken: shm does not check keys and leaves files, sockets
   * takes milliseconds, udp loses, and what becomes of the rest is not known.
   */
  private static final Set<String> SOFTWARE = Set.of(TCP, "net");

  /**
   * Taken only where the user names it: up to libfabric 1.17 it ends the process when an end is
   * closed while the answer to a read has come in part.
   */
  static final String LAYERED_TCP = "tcp;ofi_rxm";

  /** True if it uses RDMA hardware. */
  boolean isRdma() {
    return RDMA.contains(core());
  }

  /**
   * True if a deregistration alone ends the reads of memory: no program of the owner's holds an
   * answer that it has begun.
   *
   * @param provider as {@link #provider()} is
   */
  static boolean isServedByDevice(String provider) {
    return SERVED_BY_DEVICE.contains(core(provider)) && !provider.endsWith(";ofi_rxd");
  }

  /** True if it may be taken where the user asks for {@code wanted}, or for nothing: empty. */
  boolean isLegal(String wanted) {
    if (isRdma()) {
      return wanted.isEmpty() || provider.equals(wanted) || core().equals(wanted);
    }
    return SOFTWARE.contains(provider)
        ? wanted.isEmpty() || wanted.equals(TCP) || wanted.equals(provider)
        : provider.equals(LAYERED_TCP) && wanted.equals(LAYERED_TCP);
  }

  /** Processes read from each other if this is equal. */
  String means() {
    return provider + "/" + addressForm;
  }

  /** The provider that reaches the wire. */
  private String core() {
    return core(provider);
  }

  private static String core(String provider) {
    return Arrays.asList(provider.split(";", -1)).get(0);
  }
}

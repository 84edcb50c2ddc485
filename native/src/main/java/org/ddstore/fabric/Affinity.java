// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * The distance of a device from the processors on which this process can run, according to sysfs.
 *
 * @param sysfs root of sysfs, usually {@code /sys}
 * @param status status file of the process, usually {@code /proc/self/status}
 */
record Affinity(Path sysfs, Path status) {
  static final Affinity OF_THIS_PROCESS =
      new Affinity(Path.of("/sys"), Path.of("/proc/self/status"));

  private static final String PROCESSORS = "Cpus_allowed_list:";
  private static final int UNKNOWN = -1;

  /** Returns 0 if the device's NUMA node is unknown or has processors of this process, else 1. */
  int distance(FabricOffer offer) {
    int node = node(offer);
    return node == UNKNOWN || isOurs(node) ? 0 : 1;
  }

  String describe(FabricOffer offer) {
    int node = node(offer);
    if (node == UNKNOWN) {
      return "NUMA node unknown";
    }
    return isOurs(node)
        ? "NUMA node %d, same as this process".formatted(node)
        : "NUMA node %d, other than this process".formatted(node);
  }

  private int node(FabricOffer offer) {
    if (offer.pciDevice().isEmpty()) {
      return UNKNOWN;
    }
    try {
      Path file = sysfs.resolve("bus/pci/devices").resolve(offer.pciDevice()).resolve("numa_node");
      return Integer.parseInt(Files.readString(file).strip());
    } catch (IOException | NumberFormatException e) {
      return UNKNOWN; // not Linux, or a device that is not on the bus
    }
  }

  private boolean isOurs(int node) {
    try {
      Path list = sysfs.resolve("devices/system/node/node" + node).resolve("cpulist");
      BitSet both = numbers(Files.readString(list).strip());
      String allowed =
          Files.readAllLines(status).stream()
              .filter(line -> line.startsWith(PROCESSORS))
              .findFirst()
              .orElse(PROCESSORS);
      both.and(numbers(allowed.substring(PROCESSORS.length()).strip()));
      return !both.isEmpty();
    } catch (IOException | NumberFormatException e) {
      return true; // without NUMA all devices are near
    }
  }

  /** Parses a list such as {@code 0-3,8,10-11}. */
  static BitSet numbers(String list) {
    BitSet numbers = new BitSet();
    for (String part : list.split(",", -1)) {
      if (!part.isEmpty()) {
        int dash = part.indexOf('-');
        int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
        int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
        numbers.set(first, last + 1);
      }
    }
    return numbers;
  }
}

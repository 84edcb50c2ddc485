// SPDX-License-Identifier: Apache-2.0
package org.ddstore.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.types.HostFacts;

/**
 * The machine on which a figure was measured.
 *
 * @param memoryBytes memory in bytes of the host, or of the container if it has a lower limit
 */
record Machine(
    String host, int cores, String cpu, long memoryBytes, String os, String arch, String jdk) {
  static Machine ofThisHost() {
    HostFacts facts = HostProbe.read(ProcessDirectory.SHARED_MEMORY);
    return new Machine(
        facts.hostName(),
        facts.processors(),
        cpuModel(),
        facts.physicalMemoryBytes(),
        facts.os(),
        facts.arch(),
        facts.jdk());
  }

  private static String cpuModel() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown"; // not Linux
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.ddstore.memory.DeviceChoice;
import org.ddstore.memory.Devices;

/**
 * The accelerator of a rank, with warnings about doubtful assignments.
 *
 * @param device number of the device on the host, from 0; empty if none is assigned or configured,
 *     or if the sources disagree
 * @param problem disagreement of sources, with the remedy; empty if there is none
 */
public record DeviceBinding(OptionalInt device, List<String> warnings, String problem) {
  public static final String RESOURCE = "gpu";

  private static final Path DEVICES = Path.of("/dev");

  /**
   * Compares the devices that the user, Spark, a launcher and the current CUDA context name.
   *
   * @param configured device that the user has configured; empty to use Spark's
   * @param granted addresses that Spark assigned to the task; may be empty
   * @param localRank value of {@value Devices#LOCAL_RANK}; null if it is not set
   * @param devices devices that the driver shows to this process
   */
  public static DeviceBinding of(
      OptionalInt configured, List<String> granted, String localRank, Devices devices, int onHost) {
    DeviceChoice choice = DeviceChoice.of(configured, granted, localRank, devices);
    if (!choice.problem().isEmpty()) {
      return new DeviceBinding(OptionalInt.empty(), List.of(), choice.problem());
    }
    String given = "%s gave %s".formatted(DeviceChoice.ASSIGNMENT, granted);
    boolean isNumbered = granted.stream().anyMatch(DeviceChoice::isNumber);
    OptionalInt device = choice.device();
    List<String> warnings = new ArrayList<>();
    if (device.isEmpty() && !granted.isEmpty()) {
      warnings.add(given + ", which is not the number of a device: configure the device");
    } else if (!granted.isEmpty() && !isNumbered) {
      warnings.add(
          "device %d is in use, and %s: cannot tell whether they are the same device"
              .formatted(device.getAsInt(), given));
    } else if (device.isEmpty() && onHost > 1) {
      warnings.add(
          "this host has %d devices and none is assigned to this rank: set %s.amount, or configure the device"
              .formatted(onHost, DeviceChoice.ASSIGNMENT));
    }
    return new DeviceBinding(device, List.copyOf(warnings), "");
  }

  /**
   * Returns the device.
   *
   * @throws IllegalArgumentException if the sources disagree; the message names both and the remedy
   */
  public OptionalInt require() {
    if (!problem.isEmpty()) {
      throw new IllegalArgumentException(problem);
    }
    return device;
  }

  /** Returns a human-readable name of the device, or the reason for none. */
  public String description() {
    if (device.isPresent()) {
      return "device " + device.getAsInt();
    }
    if (!problem.isEmpty()) {
      return "none: " + problem;
    }
    return warnings.isEmpty() ? "none" : "none: " + warnings.get(0);
  }

  /** Returns the number of devices that NVIDIA's driver shows on this host. */
  public static int onThisHost() {
    return countIn(DEVICES);
  }

  static int countIn(Path directory) {
    if (!Files.isDirectory(directory)) {
      return 0;
    }
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(directory, "nvidia[0-9]*")) {
      int count = 0;
      for (Path ignored : devices) {
        count++;
      }
      return count;
    } catch (IOException e) {
      return 0; // the count only serves a warning
    }
  }
}

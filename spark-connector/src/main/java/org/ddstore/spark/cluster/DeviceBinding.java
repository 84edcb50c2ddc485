// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The accelerator of a rank, with warnings about doubtful assignments.
 *
 * @param device number of the device on the host, from 0; empty if none is assigned or configured
 * @param warnings human-readable warnings
 */
public record DeviceBinding(OptionalInt device, List<String> warnings) {
  /** The environment variable in which training launchers pass a process its number on the host. */
  public static final String LOCAL_RANK = "LOCAL_RANK";

  /** The name of the resource in Spark. */
  public static final String RESOURCE = "gpu";

  private static final Path DEVICES = Path.of("/dev");
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  /**
   * Compares the devices that the user, Spark and a launcher have set.
   *
   * @param configured device that the user has configured; empty to use Spark's
   * @param granted addresses that Spark assigned to the task; may be empty
   * @param localRank value of {@value #LOCAL_RANK}; null if it is not set
   * @param onHost number of devices of the host
   * @throws IllegalArgumentException if Spark assigned other numbers than the configured one; the
   *     message names both
   */
  public static DeviceBinding of(
      OptionalInt configured, List<String> granted, String localRank, int onHost) {
    String given = "spark.task.resource.%s gave %s".formatted(RESOURCE, granted);
    List<String> numbers = granted.stream().filter(DeviceBinding::isNumber).toList();
    if (configured.isPresent()) {
      String device = Integer.toString(configured.getAsInt());
      if (configured.getAsInt() < 0 || (!numbers.isEmpty() && !granted.contains(device))) {
        throw new IllegalArgumentException(
            "device %s is configured, but %s: configure none, or one of these"
                .formatted(device, numbers.isEmpty() ? "numbers begin at 0" : given));
      }
    }
    List<String> warnings = new ArrayList<>();
    OptionalInt device = configured.isPresent() ? configured : first(granted);
    if (device.isEmpty() && !granted.isEmpty()) {
      warnings.add(given + ", which is not the number of a device: configure the device");
    } else if (!granted.isEmpty() && numbers.isEmpty()) {
      warnings.add(
          "device %d is configured, and %s: cannot tell whether they are the same device"
              .formatted(device.getAsInt(), given));
    } else if (device.isEmpty() && onHost > 1) {
      warnings.add(
          "this host has %d devices and none is assigned to this rank: set spark.task.resource.%s.amount, or configure the device"
              .formatted(onHost, RESOURCE));
    }
    if (localRank != null
        && device.isPresent()
        && !localRank.strip().equals(Integer.toString(device.getAsInt()))) {
      warnings.add(
          "environment variable %s is %s, but the device is %d"
              .formatted(LOCAL_RANK, localRank, device.getAsInt()));
    }
    return new DeviceBinding(device, List.copyOf(warnings));
  }

  /** Returns Spark's first address if it is a number: discovery scripts may use other names. */
  private static OptionalInt first(List<String> granted) {
    return granted.isEmpty() || !isNumber(granted.get(0))
        ? OptionalInt.empty()
        : OptionalInt.of(Integer.parseInt(granted.get(0)));
  }

  private static boolean isNumber(String address) {
    return NUMBER.matcher(address).matches();
  }

  /** Returns a human-readable name of the device, or the reason for none. */
  public String description() {
    if (device.isPresent()) {
      return "device " + device.getAsInt();
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

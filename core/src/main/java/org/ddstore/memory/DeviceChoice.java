// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.ddstore.types.Plural;

/**
 * The device of a rank, chosen from all sources that name one. They must agree: a program that
 * copies to one device and computes on another works, but slowly, and without an error.
 *
 * @param device number of the device; empty if no source names one, or if they disagree
 * @param problem disagreement with its remedy; empty if there is none
 */
public record DeviceChoice(OptionalInt device, String problem) {
  /** The setting by which Spark assigns devices to tasks. */
  public static final String ASSIGNMENT = "spark.task.resource.gpu";

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  /** The device that one source names, and its statement as the subject of a message. */
  private record Statement(int device, String text) {}

  /**
   * Compares all sources. The first of these is chosen: the configured device, that of the current
   * context, that of the launcher, the first that Spark assigned.
   *
   * @param configured device that the user has configured
   * @param assigned addresses that Spark assigned to the task; those that are not numbers are
   *     ignored
   * @param localRank value of the environment variable {@code LOCAL_RANK}; null if it is not set
   * @param devices devices of the process; without a driver their number is not checked, and {@code
   *     LOCAL_RANK} alone chooses none
   */
  public static DeviceChoice of(
      OptionalInt configured, List<String> assigned, String localRank, Devices devices) {
    List<String> numbers = assigned.stream().filter(DeviceChoice::isNumber).toList();
    Statement chosen = first(configured, numbers, localRank, devices);
    if (chosen == null) {
      return new DeviceChoice(OptionalInt.empty(), "");
    }
    return problem(chosen, numbers, assigned, localRank, devices)
        .map(problem -> new DeviceChoice(OptionalInt.empty(), problem))
        .orElseGet(() -> new DeviceChoice(OptionalInt.of(chosen.device()), ""));
  }

  private static Statement first(
      OptionalInt configured, List<String> numbers, String localRank, Devices devices) {
    if (configured.isPresent()) {
      int device = configured.getAsInt();
      return new Statement(device, "device %d is configured".formatted(device));
    }
    if (devices.current().isPresent()) {
      int device = devices.current().getAsInt();
      return new Statement(device, "the current CUDA context is of device %d".formatted(device));
    }
    boolean isLaunched = localRank != null && isNumber(localRank.strip());
    if (isLaunched && (devices.count() > 0 || !numbers.isEmpty())) {
      return new Statement(
          Integer.parseInt(localRank.strip()),
          "environment variable %s is %s".formatted(Devices.LOCAL_RANK, localRank.strip()));
    }
    return numbers.isEmpty()
        ? null
        : new Statement(
            Integer.parseInt(numbers.get(0)), "%s gave %s".formatted(ASSIGNMENT, numbers));
  }

  /** Returns the first disagreement with a chosen device. */
  private static Optional<String> problem(
      Statement chosen,
      List<String> numbers,
      List<String> assigned,
      String localRank,
      Devices devices) {
    int device = chosen.device();
    if (device < 0) {
      return Optional.of(chosen.text() + ", but numbers begin at 0: configure none, or another");
    }
    if (!numbers.isEmpty() && numbers.stream().noneMatch(n -> Integer.parseInt(n) == device)) {
      return Optional.of(
          "%s, but %s gave %s: configure none, or one of these"
              .formatted(chosen.text(), ASSIGNMENT, assigned));
    }
    OptionalInt current = devices.current();
    if (current.isPresent() && current.getAsInt() != device) {
      return Optional.of(
          "%s, but the current CUDA context is of device %d: configure device %d, or make a context of device %d current first"
              .formatted(chosen.text(), current.getAsInt(), current.getAsInt(), device));
    }
    if (localRank != null && !localRank.strip().equals(Integer.toString(device))) {
      return Optional.of(
          "%s, but environment variable %s is %s: unset it, or set it to %d"
              .formatted(chosen.text(), Devices.LOCAL_RANK, localRank, device));
    }
    if (devices.count() > 0 && !devices.has(device)) {
      String visible =
          devices.hidden().isEmpty()
              ? ""
              : "; %s is %s: the driver numbers only these, from 0"
                  .formatted(Devices.VISIBLE, devices.hidden());
      return Optional.of(
          "%s, but the driver has %s, numbered from 0: use one in [0, %d)%s"
              .formatted(
                  chosen.text(), Plural.of(devices.count(), "device"), devices.count(), visible));
    }
    return Optional.empty();
  }

  /** Returns whether an address of Spark is a number: discovery scripts may use other names. */
  public static boolean isNumber(String address) {
    return NUMBER.matcher(address).matches();
  }

  /**
   * Returns the device; the first one if no source names any.
   *
   * @throws IllegalArgumentException if sources disagree; the message names both and the remedy
   */
  public int require() {
    if (!problem.isEmpty()) {
      throw new IllegalArgumentException(problem);
    }
    return device.orElse(0);
  }
}

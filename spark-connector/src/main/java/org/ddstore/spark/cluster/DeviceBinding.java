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
 * Which accelerator a rank computes on, and what is doubtful about it.
 *
 * @param device its number on the host, from 0; empty if nobody has said
 * @param warnings sentences for the user
 */
public record DeviceBinding(OptionalInt device, List<String> warnings) {
  /** The variable by which launchers of training jobs tell a process its number on the host. */
  public static final String LOCAL_RANK = "LOCAL_RANK";

  /** Spark's name of the resource. */
  public static final String RESOURCE = "gpu";

  private static final Path DEVICES = Path.of("/dev");
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  /**
   * Compares what the user, Spark and a launcher say.
   *
   * @param configured by the user; empty for what Spark gave
   * @param granted addresses that Spark gave to the task, maybe none
   * @param localRank the value of {@value #LOCAL_RANK}, null if it is not set
   * @param onHost how many devices the host has
   * @throws IllegalArgumentException if the user's is not among Spark's numbers, naming both
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
          "device %d is configured, and %s: whether they are one cannot be told"
              .formatted(device.getAsInt(), given));
    } else if (device.isEmpty() && onHost > 1) {
      warnings.add(
          "this host has %d devices and nobody has said which is this rank's: set spark.task.resource.%s.amount, or configure the device"
              .formatted(onHost, RESOURCE));
    }
    if (localRank != null
        && device.isPresent()
        && !localRank.strip().equals(Integer.toString(device.getAsInt()))) {
      warnings.add(
          "%s is %s, but the device is %d".formatted(LOCAL_RANK, localRank, device.getAsInt()));
    }
    return new DeviceBinding(device, List.copyOf(warnings));
  }

  /** Spark's first address, if it is a number: scripts of discovery may give other names. */
  private static OptionalInt first(List<String> granted) {
    return granted.isEmpty() || !isNumber(granted.get(0))
        ? OptionalInt.empty()
        : OptionalInt.of(Integer.parseInt(granted.get(0)));
  }

  private static boolean isNumber(String address) {
    return NUMBER.matcher(address).matches();
  }

  /** For people: the device, or why there is none. */
  public String description() {
    if (device.isPresent()) {
      return "device " + device.getAsInt();
    }
    return warnings.isEmpty() ? "none" : "none: " + warnings.get(0);
  }

  /** How many devices NVIDIA's driver shows on this host. */
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
      return 0; // a warning is not worth an error
    }
  }
}

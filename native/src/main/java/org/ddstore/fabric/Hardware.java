// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.transport.Availability;

/**
 * The RDMA devices known to the kernel: those of verbs, efa, psm and opx are in its class
 * infiniband, those of cxi and gni in classes of their own.
 *
 * @param sysfs root of sysfs, usually {@code /sys}
 */
record Hardware(Path sysfs) {
  static final Hardware OF_THIS_HOST = new Hardware(Path.of("/sys"));

  private static final String CLASSES = "{infiniband,cxi*,gni}";

  Availability availability() {
    List<String> devices = new ArrayList<>();
    Path classes = sysfs.resolve("class");
    if (Files.isDirectory(classes)) {
      try (DirectoryStream<Path> found = Files.newDirectoryStream(classes, CLASSES)) {
        for (Path one : found) {
          devices.addAll(names(one));
        }
      } catch (IOException e) {
        return Availability.unavailable("directory %s cannot be read: %s".formatted(classes, e));
      }
    }
    return devices.isEmpty()
        ? Availability.unavailable("no RDMA device in %s/%s".formatted(classes, CLASSES))
        : Availability.available(String.join(", ", devices));
  }

  private static List<String> names(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(directory)) {
      devices.forEach(device -> names.add(device.getFileName().toString()));
    }
    return names;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of an MPI library, parsed from the text of MPI_Get_library_version. */
final class OpenMpiVersion {
  private static final Pattern TEXT = Pattern.compile("Open MPI v((\\d+)\\.[\\w.]+)");

  /** Last major version with a PMI-1 client. */
  private static final int MAJOR = 4;

  private OpenMpiVersion() {}

  /** Returns why this MPI cannot be used; empty if it can. */
  static Optional<String> problem(String libraryVersion) {
    Matcher text = TEXT.matcher(libraryVersion);
    if (!text.lookingAt()) {
      return Optional.of(
          "this MPI is not Open MPI (%s): install Open MPI 4".formatted(firstLine(libraryVersion)));
    }
    int major = Integer.parseInt(text.group(2));
    if (major > MAJOR) {
      return Optional.of(
          "Open MPI %s has no PMI-1 client, so running JVMs cannot form an MPI world: install Open MPI 4"
              .formatted(text.group(1)));
    }
    return major == MAJOR
        ? Optional.empty()
        : Optional.of("Open MPI %s is too old: install Open MPI 4".formatted(text.group(1)));
  }

  /** Returns a short name, such as {@code Open MPI 4.1.4}. */
  static String shortName(String libraryVersion) {
    Matcher text = TEXT.matcher(libraryVersion);
    return text.lookingAt() ? "Open MPI " + text.group(1) : firstLine(libraryVersion);
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("no version");
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;

/** The formats on the class path. */
public final class Formats {
  private Formats() {}

  /** {@return all formats, ordered by name} */
  public static List<SampleFormat> all() {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    List<SampleFormat> formats = new ArrayList<>();
    ServiceLoader.load(SampleFormat.class, loader == null ? Formats.class.getClassLoader() : loader)
        .forEach(formats::add);
    formats.sort(Comparator.comparing(SampleFormat::name));
    return formats;
  }

  /**
   * {@return the format with a name, in any case; empty if there is none}
   *
   * @param name name of the format
   */
  public static Optional<SampleFormat> named(String name) {
    return all().stream().filter(format -> format.name().equalsIgnoreCase(name)).findFirst();
  }

  /**
   * {@return the format whose suffix a path ends with; empty if there is none}
   *
   * @param path path of a file or folder, or a pattern
   */
  public static Optional<SampleFormat> of(String path) {
    String name = path.toLowerCase(Locale.ROOT).replaceAll("/+$", "");
    return all().stream()
        .filter(format -> format.suffixes().stream().anyMatch(name::endsWith))
        .findFirst();
  }
}

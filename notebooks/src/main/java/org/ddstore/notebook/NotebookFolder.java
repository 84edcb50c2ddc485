// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder of the user's notebooks, which begins with copies of those of the repository.
 *
 * @param originals folder of the notebooks of the repository
 * @param folder folder of the user's notebooks
 */
record NotebookFolder(Path originals, Path folder) {
  private static final String SUFFIX = ".ipynb";

  /** Returns the folder for data of this user, as the XDG Base Directory Specification has it. */
  static Path userData(Map<String, String> environment) {
    Path data = Path.of(environment.getOrDefault("XDG_DATA_HOME", ""));
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    return (data.isAbsolute() ? data : Path.of(home, ".local", "share")).resolve("ddstore");
  }

  /**
   * Returns a notebook: an existing file, one of this folder, or an original that {@link #update}
   * has not copied yet.
   *
   * @throws IllegalArgumentException if there is none of this name
   */
  Path find(String name) throws IOException {
    List<Path> all = new ArrayList<>(notebooks(originals));
    if (Files.isDirectory(folder)) {
      all.addAll(0, notebooks(folder));
    }
    for (Path file : List.of(Path.of(name), folder.resolve(name))) {
      if (Files.exists(file)) {
        return file;
      }
    }
    if (all.contains(originals.resolve(name))) {
      return originals.resolve(name);
    }
    String names =
        all.stream()
            .map(file -> file.getFileName().toString())
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    throw new IllegalArgumentException(
        "there is no file \"%s\", and no notebook of this name in %s, which has: %s"
            .formatted(name, folder, names));
  }

  private static List<Path> notebooks(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
  }

  /**
   * Copies the notebooks of the repository that the folder lacks or has in an older, unedited form.
   * A newer original of an edited notebook gets a name of its own. Returns a line for each such
   * notebook.
   */
  List<String> update() throws IOException {
    Path copied = Files.createDirectories(folder.resolve(".originals"));
    List<String> lines = new ArrayList<>();
    for (Path original : notebooks(originals)) {
      String name = original.getFileName().toString();
      Path own = folder.resolve(name);
      Path last = copied.resolve(name);
      boolean isNew = !isSame(original, last);
      if (!Files.exists(own) || (isNew && isSame(own, last))) {
        copy(original, own);
      } else if (isNew && !isSame(original, own)) {
        Path beside = beside(name);
        copy(original, beside);
        lines.add(
            "ddstore: notebook: %s is newer in DDStore; your edited file is kept, the new one is %s"
                .formatted(name, beside.getFileName()));
      }
      copy(original, last);
    }
    return lines;
  }

  private Path beside(String name) {
    String stem = name.substring(0, name.length() - SUFFIX.length());
    int number = 2;
    while (Files.exists(folder.resolve(stem + "-" + number + SUFFIX))) {
      number++;
    }
    return folder.resolve(stem + "-" + number + SUFFIX);
  }

  /** Copies the content, and no permissions: those of a checkout may forbid writes. */
  private static void copy(Path from, Path to) throws IOException {
    Files.write(to, Files.readAllBytes(from));
  }

  private static boolean isSame(Path one, Path other) throws IOException {
    return Files.exists(other) && Files.mismatch(one, other) < 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The modules of the project and their main sources.
 *
 * @param root root folder of the project
 */
record Modules(Path root) {
  private static final List<String> SOURCES = List.of("src/main/java", "src/mpi/java");

  /** Returns the modules of the project that the tests run in. */
  static Modules ofProject() {
    return new Modules(Path.of(System.getProperty("ddstore.root")));
  }

  /** Returns the folders of the modules, each before those in it. */
  List<Path> folders() throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path module : modulesIn(root)) {
      all.add(module);
      all.addAll(modulesIn(module));
    }
    return all;
  }

  private static List<Path> modulesIn(Path parent) throws IOException {
    try (Stream<Path> folders = Files.list(parent)) {
      return folders.filter(folder -> Files.exists(folder.resolve("pom.xml"))).sorted().toList();
    }
  }

  /** Returns the Java files of the main sources, without those of {@code package-info}. */
  List<Path> javaFiles() throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path folder : sourceFolders()) {
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .filter(file -> !file.endsWith("package-info.java"))
            .sorted()
            .forEach(all::add);
      }
    }
    return all;
  }

  /** Returns the main source of a class; empty if no module has a file of this name. */
  Optional<String> source(String className) throws IOException {
    for (Path folder : sourceFolders()) {
      Path file = folder.resolve(className.replace('.', '/') + ".java");
      if (Files.exists(file)) {
        return Optional.of(Files.readString(file));
      }
    }
    return Optional.empty();
  }

  private List<Path> sourceFolders() throws IOException {
    return folders().stream()
        .flatMap(module -> SOURCES.stream().map(module::resolve))
        .filter(Files::isDirectory)
        .toList();
  }
}

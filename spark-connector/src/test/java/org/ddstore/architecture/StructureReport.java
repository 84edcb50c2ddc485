// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** The command {@code ./ddstore structure}: prints the figures of the structure of a built tree. */
public final class StructureReport {
  private static final int LONGEST = 5;

  private final Modules modules;
  private final PrintStream out;

  private StructureReport(Modules modules, PrintStream out) {
    this.modules = modules;
    this.out = out;
  }

  /**
   * Prints the report to standard output.
   *
   * @param args root folder of the project
   */
  public static void main(String[] args) throws IOException {
    print(Path.of(args[0]), System.out);
  }

  static void print(Path root, PrintStream out) throws IOException {
    StructureReport report = new StructureReport(new Modules(root), out);
    report.printPackages();
    report.printSizes();
    report.printPaths();
    report.printJar();
  }

  private void printPackages() throws IOException {
    JavaClasses project =
        new ClassFileImporter()
            .withImportOption(location -> !location.contains("jmh_generated"))
            .importPaths(modules.folders().stream().map(StructureReport::classes).toList());
    out.println("Packages, with their number of top-level classes");
    for (Path module : modules.folders()) {
      ArchitectureRules.sizes(project.that(areBelow(classes(module))))
          .forEach(
              (name, size) -> out.printf("  %-16s %-28s %3d%n", module.getFileName(), name, size));
    }
    boolean hasCycles = ArchitectureRules.noCycles().evaluate(project).hasViolation();
    out.printf("%nCycles between packages: %s%n", hasCycles ? "yes, see ArchitectureTest" : "none");
    if (!hasCycles) {
      printLayers("all modules", project, "org.ddstore");
      printLayers("the connector", project, "org.ddstore.spark");
    }
  }

  private static Path classes(Path module) {
    return module.resolve("target/classes");
  }

  private static DescribedPredicate<JavaClass> areBelow(Path folder) {
    return DescribedPredicate.describe(
        "are below " + folder,
        type -> Path.of(type.getSource().orElseThrow().getUri()).startsWith(folder));
  }

  private void printLayers(String scope, JavaClasses project, String prefix) {
    List<Set<String>> layers =
        ArchitectureRules.layers(project, name -> (name + ".").startsWith(prefix + "."));
    out.printf("Layers of %s: %d%n", scope, layers.size());
    for (int i = 0; i < layers.size(); i++) {
      out.printf("  %2d  %s%n", i + 1, String.join(", ", layers.get(i)));
    }
  }

  private void printSizes() throws IOException {
    SourceSizes sizes = SourceSizes.of(modules.javaFiles());
    out.printf("%nLongest classes, in lines (at most %d)%n", SourceSizes.MAX_CLASS_LINES);
    sizes.classes().stream().limit(LONGEST).forEach(size -> out.println("  " + size));
    out.printf("Longest methods, in lines (at most %d)%n", SourceSizes.MAX_METHOD_LINES);
    sizes.methods().stream().limit(LONGEST).forEach(size -> out.println("  " + size));
  }

  private void printPaths() throws IOException {
    String page = Files.readString(modules.root().resolve("docs/architecture.md"));
    out.printf("%nClasses that a reader opens, by docs/architecture.md%n");
    for (String title : new TreeSet<>(ReadingPath.LIMITS.keySet())) {
      int most = ReadingPath.LIMITS.get(title);
      out.println(
          ReadingPath.find(page, title)
              .map(
                  path -> "  %-22s %2d of at most %d".formatted(title, path.classes().size(), most))
              .orElse("  %-22s no list".formatted(title)));
    }
  }

  private void printJar() throws IOException {
    out.printf("%nRuntime jar%n");
    try (Stream<Path> files = Files.list(modules.root().resolve("spark-connector/target"))) {
      for (Path file : files.filter(StructureReport::isRuntimeJar).sorted().toList()) {
        try (JarFile jar = new JarFile(file.toFile())) {
          long classes = jar.stream().filter(entry -> entry.getName().endsWith(".class")).count();
          out.printf(
              "  %s: %,d bytes, %,d classes%n", file.getFileName(), Files.size(file), classes);
        }
      }
    }
  }

  private static boolean isRuntimeJar(Path file) {
    return file.getFileName()
        .toString()
        .matches("ddstore-spark(?!.*-(sources|javadoc|tests)\\.jar).*\\.jar");
  }
}

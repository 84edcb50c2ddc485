// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

/** The Javadoc of the packages that users see, over the modules that have them. */
final class Javadoc {
  private static final List<String> MODULES =
      List.of("core", "native", "spark-connector", "formats");

  private Javadoc() {}

  /**
   * Writes the Javadoc. Warnings are errors, as in a release.
   *
   * @param root root folder of the project
   * @param folder folder to write to
   * @param version version of the project
   * @param packages names of the packages
   * @throws IOException if Javadoc fails; the message is its output
   */
  static void write(Path root, Path folder, String version, List<String> packages)
      throws IOException {
    ToolProvider javadoc =
        ToolProvider.findFirst("javadoc")
            .orElseThrow(() -> new IOException("javadoc is missing: a JDK is needed, not a JRE"));
    String title = "DDStore for Spark " + version;
    List<String> arguments =
        new ArrayList<>(
            List.of("-quiet", "-notimestamp", "-Xdoclint:all,-missing", "-Werror", "-encoding"));
    arguments.addAll(List.of("UTF-8", "-d", folder.toString(), "-windowtitle", title));
    arguments.addAll(List.of("-doctitle", title, "-sourcepath", sources(root)));
    arguments.addAll(List.of("-header", "<a href=\"{@docRoot}/../index.html\">Documentation</a>"));
    arguments.addAll(List.of("-classpath", System.getProperty("java.class.path")));
    arguments.addAll(packages);
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    if (javadoc.run(writer, writer, arguments.toArray(String[]::new)) != 0) {
      throw new IOException("javadoc failed: " + output);
    }
  }

  private static String sources(Path root) {
    return MODULES.stream()
        .map(module -> root.resolve(module).resolve("src/main/java").toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}

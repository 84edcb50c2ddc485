// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The jar for spark-submit: the commands and their libraries, no class that Spark may have. */
class CommandLineJarIT {
  private static final Path JAR = Path.of(System.getProperty("ddstore.cli.jar"));
  private static final Path RUNTIME_JAR = Path.of(System.getProperty("ddstore.runtime.jar"));

  @Test
  void holdsTheCommandsAndRenamedLibrariesAlone() throws IOException {
    assertThat(entries())
        .allMatch(
            name ->
                name.startsWith("org/ddstore/cli/")
                    || name.startsWith("org/ddstore/local/")
                    || name.startsWith("org/ddstore/formats/")
                    || name.startsWith("org/ddstore/shaded/")
                    || name.startsWith("com/scalableminds/bloscjava/")
                    || name.equals("libbloscjni.so")
                    || name.startsWith("META-INF/"))
        .noneMatch(name -> name.startsWith("META-INF/versions/"))
        .noneMatch(name -> name.endsWith("module-info.class"))
        .contains(
            "org/ddstore/cli/Main.class",
            "org/ddstore/shaded/picocli/CommandLine.class",
            "org/ddstore/shaded/progressbar/ProgressBar.class",
            "org/ddstore/shaded/jline/terminal/Terminal.class");
  }

  @Test
  void keepsTheLicences() throws IOException {
    assertThat(entries())
        .contains(
            "META-INF/LICENSE",
            "META-INF/NOTICE",
            "META-INF/licenses/blosc.txt",
            "META-INF/licenses/jline.txt",
            "META-INF/licenses/progressbar.txt");
  }

  @Test
  void startsWithoutSpark() throws IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    File output = File.createTempFile("version", ".txt");

    Process process =
        new ProcessBuilder(
                java,
                "-cp",
                JAR + File.pathSeparator + RUNTIME_JAR,
                Main.class.getName(),
                "--version")
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();

    assertThat(process.waitFor()).as("exit status").isZero();
    assertThat(output).content(UTF_8).contains(System.getProperty("ddstore.version"));
  }

  private static List<String> entries() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
    }
  }
}

package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The one jar that users put beside Spark: complete, and without a class that Spark may have. */
class RuntimeJarIT {

  private static final Path JAR = Path.of(System.getProperty("ddstore.runtime.jar"));

  @Test
  void holdsOnlyOurPackages() throws IOException {
    assertThat(entries())
        .allMatch(name -> name.startsWith("org/ddstore/") || name.startsWith("META-INF/"))
        .noneMatch(name -> name.startsWith("META-INF/versions/"))
        .noneMatch(name -> name.endsWith("module-info.class"));
  }

  @Test
  void holdsEveryModuleAndLibrary() throws IOException {
    assertThat(entries())
        .contains(
            "org/ddstore/layout/package-info.class",
            "org/ddstore/nativeio/package-info.class",
            "org/ddstore/cli/Main.class",
            "org/ddstore/shaded/picocli/CommandLine.class",
            "org/ddstore/shaded/progressbar/ProgressBar.class",
            "org/ddstore/shaded/asciitable/AsciiTable.class",
            "org/ddstore/shaded/jline/terminal/Terminal.class");
  }

  @Test
  void holdsTheNativeLibraryOrSaysWhatWasMissing() throws IOException {
    assertThat(entries())
        .filteredOn(name -> name.startsWith("META-INF/native/"))
        .singleElement()
        .asString()
        .matches("META-INF/native/linux-[a-z0-9_]+/libddstore\\.(so|missing)");
  }

  @Test
  void keepsTheLicences() throws IOException {
    assertThat(entries())
        .contains(
            "META-INF/LICENSE",
            "META-INF/NOTICE",
            "META-INF/licenses/ascii-table.txt",
            "META-INF/licenses/jline.txt",
            "META-INF/licenses/progressbar.txt");
  }

  @Test
  void startsWithoutSpark() throws IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    File output = File.createTempFile("version", ".txt");

    Process process =
        new ProcessBuilder(java, "-jar", JAR.toString(), "--version")
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();

    assertThat(process.waitFor()).as("exit status").isZero();
    assertThat(output).content(UTF_8).contains(System.getProperty("ddstore.version"));
  }

  private static List<String> entries() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return jar.stream()
          .filter(entry -> !entry.isDirectory())
          .map(ZipEntry::getName)
          .collect(Collectors.toUnmodifiableList());
    }
  }
}

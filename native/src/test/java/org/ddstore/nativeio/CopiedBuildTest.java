// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code native/compile} of a small project, in places that an earlier build did not know. */
@Tag("system")
class CopiedBuildTest {
  private static final Path COMPILE = Path.of(System.getProperty("basedir"), "compile");

  @TempDir private Path work;

  private record Ended(int status, String text) {}

  private Path project() throws IOException {
    Path project = Files.createDirectories(work.resolve("first/native"));
    Files.copy(COMPILE, project.resolve("compile"), StandardCopyOption.COPY_ATTRIBUTES);
    Files.writeString(
        project.resolve("CMakeLists.txt"),
        """
        cmake_minimum_required(VERSION 3.16)
        project(ddstore C)
        add_library(ddstore SHARED number.c)
        add_library(ddstore_reader SHARED number.c)
        """);
    Files.writeString(project.resolve("number.c"), "int number(void) { return 7; }\n");
    return project;
  }

  private static Ended compile(Path project) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "bash",
                project.resolve("compile").toString(),
                "library",
                System.getProperty("java.home"),
                project.resolve("classes").toString())
            .redirectErrorStream(true)
            .start();
    try {
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ends in time").isTrue();
      return new Ended(process.exitValue(), text);
    } finally {
      process.destroyForcibly();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  @Test
  void rebuildsACopyOfABuiltCheckout() throws Exception {
    Needed.check("a C compiler", NativeLibrary.isLoaded(), NativeLibrary::description);
    Path first = project();
    Ended built = compile(first);
    assertThat(built.status()).as(built.text()).isZero();
    Path log = first.resolve("target/c/compile.log");
    Files.writeString(first.resolve("target/c/kept"), "");
    assertThat(compile(first).status()).isZero();
    assertThat(first.resolve("target/c/kept")).as("what a build at its old place keeps").exists();

    Path second = work.resolve("second/native");
    copy(first, second);
    Files.writeString(second.resolve("number.c"), "int number(void) { return 8; }\n");
    Ended copied = compile(second);
    assertThat(copied.status()).as(copied.text()).isZero();
    assertThat(copied.text()).isEmpty();
    assertThat(second.resolve("target/c/compile.log")).content().contains("number.c");
    assertThat(log).as("log of the first place").exists();

    // The log names the failed source, and the launcher recognizes the failure.
    Files.writeString(second.resolve("number.c"), "int number(void) { return nothing; }\n");
    Ended failed = compile(second);
    assertThat(failed.status()).isNotZero();
    assertThat(failed.text()).contains("nothing").contains("all of it is in " + second);
    assertThat(second.resolve("target/c/failed")).exists();
    Files.writeString(second.resolve("number.c"), "int number(void) { return 9; }\n");
    assertThat(compile(second).status()).isZero();
    assertThat(second.resolve("target/c/failed")).doesNotExist();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code compile match-mpi} deletes classes that were compiled with mpi.jar and are built without
 * it, or the reverse. In a copy of the module with one class of each kind.
 */
class MatchMpiTest {
  private static final Path MODULE = Path.of(System.getProperty("basedir"));

  @TempDir private Path module;

  private Path ours;
  private Path ofMpi;
  private Path jar;

  @BeforeEach
  void copy() throws IOException {
    Files.copy(MODULE.resolve("compile"), module.resolve("compile"));
    create(module.resolve("src/mpi/java/org/ddstore/mpi/World.java"));
    ours = create(module.resolve("target/classes/org/ddstore/Ours.class"));
    ofMpi = module.resolve("target/classes/org/ddstore/mpi/World.class");
    jar = module.resolve("mpi/build/mpi.jar");
  }

  private static Path create(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    return Files.createFile(file);
  }

  private void match() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "bash",
                module.resolve("compile").toString(),
                "match-mpi",
                module.resolve("target/classes").toString())
            .inheritIO()
            .start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("ends in time").isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  /** The launcher has deleted the service files before the build. */
  @Test
  void keepsClassesThatFit() throws Exception {
    match();
    assertThat(ours).exists();

    create(ofMpi);
    create(jar);
    match();
    assertThat(ours).exists();
  }

  @Test
  void deletesClassesWithoutMpiWhenTheJarHasCome() throws Exception {
    create(jar);
    match();
    assertThat(ours).doesNotExist();
  }

  @Test
  void deletesClassesOfMpiWhenTheJarHasGone() throws Exception {
    create(ofMpi);
    match();
    assertThat(ours).doesNotExist();
  }
}

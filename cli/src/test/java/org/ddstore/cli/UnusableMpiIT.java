// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --transport mpi} where there is no Open MPI 4: on a PATH without its programs. */
@Tag("system")
class UnusableMpiIT {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final Set<String> MPI_PROGRAMS =
      Set.of("mpirun", "mpiexec", "orterun", "mpicc", "ompi_info");

  @TempDir private Path work;
  private Path programs;

  @BeforeEach
  void linkAllOtherPrograms() throws IOException {
    programs = Files.createDirectory(work.resolve("programs"));
    for (String folder : List.of("/usr/local/bin", "/usr/bin", "/bin")) {
      try (Stream<Path> all = Files.list(Path.of(folder))) {
        for (Path program : all.toList()) {
          String name = program.getFileName().toString();
          if (!MPI_PROGRAMS.contains(name.replaceAll("[.].*", ""))) {
            link(programs.resolve(name), program);
          }
        }
      }
    }
  }

  /** Else JUnit warns of each that leads elsewhere. */
  @AfterEach
  void deleteLinks() throws IOException {
    try (Stream<Path> all = Files.list(programs)) {
      for (Path program : all.toList()) {
        Files.delete(program);
      }
    }
  }

  private static void link(Path name, Path program) throws IOException {
    try {
      Files.createSymbolicLink(name, program);
    } catch (FileAlreadyExistsException e) {
      // One of the same name comes earlier on the PATH.
    }
  }

  private void addProgram(String name, String script) throws IOException {
    Path program = Files.writeString(programs.resolve(name), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  /**
   * The launcher in a folder of its own, since who runs these tests may hold the project's lock.
   */
  private Path launcher() throws IOException {
    Path folder = Files.createDirectories(work.resolve("checkout/native/mpi"));
    Path script = Path.of("native/mpi/build-mpi-jar");
    copy(ROOT.resolve(script), folder.resolve(script.getFileName()));
    return copy(ROOT.resolve("ddstore"), work.resolve("checkout/ddstore"));
  }

  private static Path copy(Path from, Path to) throws IOException {
    return Files.copy(
        from, to, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Returns the error output of the demo, which must not start. */
  private String refusal() throws IOException, InterruptedException {
    Path err = work.resolve("err.txt");
    ProcessBuilder builder =
        new ProcessBuilder(launcher().toString(), "demo", "--transport", "mpi")
            .redirectOutput(work.resolve("out.txt").toFile())
            .redirectError(err.toFile());
    builder.environment().put("PATH", programs.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("DDSTORE_NO_INSTALL", "1");
    builder.environment().remove("DDSTORE_UNDER_TEST");
    builder.environment().remove("DDSTORE_MPI_JAR");
    try (ProcessTree processes = ProcessTree.start(builder)) {
      assertThat(processes.awaitExit(LIMIT)).as(Files.readString(err, UTF_8)).isEqualTo(1);
      processes.assertNothingLeft();
    }
    String said = Files.readString(err, UTF_8);
    assertThat(said).contains("--transport mpi needs Open MPI 4");
    return said;
  }

  @Test
  void namesThePackagesIfOpenMpiIsMissing() throws Exception {
    assertThat(refusal())
        .contains("no Open MPI is installed")
        .contains("apt-get install openmpi-bin libopenmpi-dev");
  }

  @Test
  void rejectsMpichByName() throws Exception {
    // The output exceeds the buffer of a pipe, as the real one: a reader that stops kills it.
    addProgram("mpirun", "echo 'HYDRA build details:'; head -c 300000 /dev/zero | tr '\\0' '\\n'");

    assertThat(refusal()).contains("not Open MPI (HYDRA build details:)", "install Open MPI 4");
  }

  @Test
  void rejectsOpenMpi5WithTheReason() throws Exception {
    addProgram("ompi_info", "echo 'Open MPI v5.0.3'");
    addProgram("mpicc", "exit 1");

    assertThat(refusal()).contains("Open MPI 5.0.3 has no PMI-1 client", "install Open MPI 4");
  }
}

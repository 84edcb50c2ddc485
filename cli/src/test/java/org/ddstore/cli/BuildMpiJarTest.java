// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code native/mpi/build-mpi-jar}, a copy of it, beside an Open MPI that says of itself what a
 * test wants.
 */
@Tag("system")
class BuildMpiJarTest {
  private static final Path SCRIPT =
      Path.of(System.getProperty("ddstore.root"), "native/mpi/build-mpi-jar");
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final int MORE_THAN_A_PIPE_HOLDS = 300_000;

  @TempDir private Path work;
  private Path programs;
  private Path libraries;
  private Path script;
  private final Map<String, String> variables = new HashMap<>();

  private record Ended(int status, String out, String err) {}

  @BeforeEach
  void install() throws IOException {
    programs = Files.createDirectories(work.resolve("programs"));
    libraries = Files.createDirectories(work.resolve("openmpi/lib"));
    script = Files.createDirectories(work.resolve("checkout")).resolve("build-mpi-jar");
    Files.copy(SCRIPT, script, StandardCopyOption.COPY_ATTRIBUTES);
    installOpenMpi("4.1.6");
  }

  /**
   * Installs an ompi_info whose output exceeds the buffer of a pipe: a reader that stops reading
   * kills it, as it does the real one.
   */
  private void installOpenMpi(String version) throws IOException {
    install(
        "ompi_info",
        """
        more() { head -c %d /dev/zero | tr '\\0' '\\n'; }
        case "$*" in
          --version) echo "Open MPI v%s"; more ;;
          *--config*) echo bindings:java:yes; more ;;
          *libdir*) echo "path:libdir:%s" ;;
        esac
        """
            .formatted(MORE_THAN_A_PIPE_HOLDS, version, libraries));
  }

  private void install(String name, String text) throws IOException {
    Path program = Files.writeString(programs.resolve(name), "#!/bin/bash\nset -e\n" + text);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  private Ended run(String... arguments) throws IOException, InterruptedException {
    Path out = work.resolve("out.txt");
    Path err = work.resolve("err.txt");
    ProcessBuilder builder =
        new ProcessBuilder(
                Stream.concat(Stream.of(script.toString()), Stream.of(arguments)).toList())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().remove("DDSTORE_MPI_JAR");
    builder.environment().remove("DDSTORE_MPI_LIBRARY");
    builder.environment().merge("PATH", programs.toString(), (path, first) -> first + ":" + path);
    builder.environment().putAll(variables);
    try (ProcessTree processes = ProcessTree.start(builder)) {
      int status = processes.awaitExit(LIMIT);
      processes.assertNothingLeft();
      return new Ended(status, Files.readString(out, UTF_8).strip(), Files.readString(err, UTF_8));
    }
  }

  private Path jar() {
    return work.resolve("checkout/build/mpi.jar");
  }

  private void assertProvides(String content, Path library) throws Exception {
    Ended ended = run();
    assertThat(ended.status()).as(ended.err()).isZero();
    assertThat(ended.out()).isEqualTo(jar().toString());
    assertThat(jar()).hasContent(content);
    assertThat(jar().resolveSibling("library")).hasContent(library + "\n");
    assertThat(run("--check").status()).as("status of --check").isZero();
  }

  @Test
  void copiesTheJarBesideTheLibraryOnce() throws Exception {
    Files.writeString(libraries.resolve("mpi.jar"), "of 4.1.6");
    assertThat(run("--check").status()).as("status of --check before").isNotZero();
    assertThat(jar().getParent()).as("what --check may not make").doesNotExist();

    assertProvides("of 4.1.6", libraries);

    FileTime longAgo = FileTime.from(Instant.EPOCH.plusSeconds(1_000_000));
    Files.setLastModifiedTime(jar(), longAgo);
    assertProvides("of 4.1.6", libraries);
    assertThat(Files.getLastModifiedTime(jar())).as("time of the jar").isEqualTo(longAgo);
  }

  @Test
  void anotherOpenMpiGetsItsOwnJar() throws Exception {
    Path beside = libraries.resolve("mpi.jar");
    Files.writeString(beside, "of 4.1.6");
    assertProvides("of 4.1.6", libraries);

    Files.writeString(beside, "of 4.1.8");
    installOpenMpi("4.1.8");
    assertThat(run("--check").status()).as("status of --check").isNotZero();
    assertProvides("of 4.1.8", libraries);
  }

  @Test
  void prefersTheJarOfTheUser() throws Exception {
    Files.writeString(libraries.resolve("mpi.jar"), "of 4.1.6");
    Path own = Files.writeString(work.resolve("own.jar"), "the user's");
    Path ownLibrary = libraryIn("own/lib");
    variables.put("DDSTORE_MPI_JAR", own.toString());
    variables.put("DDSTORE_MPI_LIBRARY", ownLibrary.toString());

    assertProvides("the user's", ownLibrary);

    Files.writeString(own, "the user's next");
    assertProvides("the user's next", ownLibrary);

    variables.put("DDSTORE_MPI_JAR", "/nowhere/mpi.jar");
    Ended refused = run();
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("DDSTORE_MPI_JAR=/nowhere/mpi.jar cannot be read");
  }

  private Path libraryIn(String folder) throws IOException {
    Path library = Files.createDirectories(work.resolve(folder));
    Files.createFile(library.resolve("libmpi_java.so"));
    return library;
  }

  @Test
  void usesTheLibraryOfTheUser() throws Exception {
    Files.writeString(libraries.resolve("mpi.jar"), "of 4.1.6");
    assertProvides("of 4.1.6", libraries);

    variables.put("DDSTORE_MPI_LIBRARY", libraryIn("first").toString());
    assertThat(run("--check").status()).as("status of --check").isNotZero();
    assertProvides("of 4.1.6", work.resolve("first"));

    variables.put("DDSTORE_MPI_LIBRARY", libraryIn("second").toString());
    assertProvides("of 4.1.6", work.resolve("second"));

    variables.remove("DDSTORE_MPI_LIBRARY");
    assertProvides("of 4.1.6", libraries);
  }

  @Test
  void rejectsAFolderWithoutALibrary() throws Exception {
    Files.writeString(libraries.resolve("mpi.jar"), "of 4.1.6");
    variables.put("DDSTORE_MPI_LIBRARY", work.toString());

    assertThat(run().err())
        .contains("DDSTORE_MPI_LIBRARY=%s has no libmpi_java.so".formatted(work));
    assertThat(jar()).doesNotExist();
  }

  @Test
  void jarOfTheUserNeedsALibrarySetting() throws Exception {
    Path own = Files.writeString(work.resolve("own.jar"), "the user's");
    variables.put("DDSTORE_MPI_JAR", own.toString());
    install("ompi_info", "exit 1");

    Ended refused = run();
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("set DDSTORE_MPI_LIBRARY to it");
    assertThat(jar()).doesNotExist();
  }

  /** And nothing is compiled where the caller only looks. */
  @Test
  void findCompilesNothing() throws Exception {
    Ended ended = run("--find");
    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.err()).contains("no mpi.jar beside the library");
    assertThat(jar()).doesNotExist();
  }
}

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

  private void installOpenMpi(String version) throws IOException {
    Path program =
        Files.writeString(
            programs.resolve("ompi_info"),
            """
            #!/bin/sh
            case "$*" in
              --version) echo "Open MPI v%s" ;;
              *--config*) echo bindings:java:yes ;;
              *libdir*) echo "path:libdir:%s" ;;
            esac
            """
                .formatted(version, libraries));
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
  void aJarBesideTheLibraryIsTakenOnce() throws Exception {
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
  void theUsersOwnJarComesFirst() throws Exception {
    Files.writeString(libraries.resolve("mpi.jar"), "of 4.1.6");
    Path own = Files.writeString(work.resolve("own.jar"), "the user's");
    variables.put("DDSTORE_MPI_JAR", own.toString());
    variables.put("DDSTORE_MPI_LIBRARY", "/own/lib");

    assertProvides("the user's", Path.of("/own/lib"));

    Files.writeString(own, "the user's next");
    assertProvides("the user's next", Path.of("/own/lib"));

    variables.put("DDSTORE_MPI_JAR", "/nowhere/mpi.jar");
    Ended refused = run();
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("DDSTORE_MPI_JAR=/nowhere/mpi.jar cannot be read");
  }

  /** And nothing is compiled where the caller only looks. */
  @Test
  void findCompilesNothing() throws Exception {
    Ended ended = run("--find");
    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.err()).contains("none beside the library");
    assertThat(jar()).doesNotExist();
  }
}

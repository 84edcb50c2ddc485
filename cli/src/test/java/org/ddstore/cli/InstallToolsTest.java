// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.Needed;
import org.ddstore.contract.ProcessTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A copy of {@code ./ddstore} on a machine without Maven, whose sudo and apt-get only take notes.
 */
@Tag("system")
class InstallToolsTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final boolean IS_ROOT = "root".equals(System.getProperty("user.name"));
  private static final String COMMAND = "sudo apt-get update && sudo apt-get install -y ";

  /** Programs that the launcher needs before it installs or builds anything. */
  private static final List<String> NEEDED =
      List.of(
          "bash",
          "cat",
          "dirname",
          "env",
          "find",
          "flock",
          "head",
          "mkdir",
          "readlink",
          "rm",
          "sed",
          "sha256sum",
          "sort",
          "tail",
          "touch");

  /** Files and folders that tell the launcher whether something has changed since a build. */
  private static final List<String> SOURCES =
      List.of(
          "pom.xml",
          ".mvn/jvm.config",
          "native/pom.xml",
          "native/CMakeLists.txt",
          "native/compile",
          "native/src/mpi/any");

  @TempDir private Path work;
  private Path programs;

  private record Ended(int status, String text) {}

  @BeforeEach
  void install() throws IOException {
    programs = Files.createDirectories(work.resolve("programs"));
    for (String name : NEEDED) {
      Files.createSymbolicLink(programs.resolve(name), find(name));
    }
    note("sudo");
    note("apt-get");
    program("apt-cache", "exit 0");
    Files.copy(
        ROOT.resolve("ddstore"),
        Files.createDirectories(work.resolve("checkout")).resolve("ddstore"),
        StandardCopyOption.COPY_ATTRIBUTES);
    Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxrwxrwx"));
    Files.setPosixFilePermissions(
        work.resolve("checkout"), PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  /** JUnit warns of links that lead out of the folder that it deletes. */
  @AfterEach
  void removeLinks() throws IOException {
    for (String name : NEEDED) {
      Files.delete(programs.resolve(name));
    }
  }

  private static Path find(String program) {
    return List.of("/usr/bin", "/bin", "/usr/local/bin").stream()
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + program));
  }

  /** A program that notes its arguments and fails. */
  private void note(String name) throws IOException {
    program(name, "echo \"$*\" >>'" + work.resolve("checkout/" + name + ".notes") + "'; exit 1");
  }

  private void program(String name, String text) throws IOException {
    Path program = Files.writeString(programs.resolve(name), "#!/bin/bash\n" + text + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private String notesOf(String name) throws IOException {
    Path notes = work.resolve("checkout/" + name + ".notes");
    return Files.exists(notes) ? Files.readString(notes) : "";
  }

  /** Runs a command as a user other than root, who can still reach the folders of the tests. */
  private static List<String> asUser(List<String> command) {
    if (!IS_ROOT) {
      return command;
    }
    Needed.check("setpriv", Files.isExecutable(Path.of("/usr/bin/setpriv")), () -> "not there");
    List<String> whole =
        new ArrayList<>(
            List.of(
                "/usr/bin/setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--inh-caps=+dac_override",
                "--ambient-caps=+dac_override"));
    whole.addAll(command);
    return whole;
  }

  private List<String> launcher() {
    return List.of(work.resolve("checkout/ddstore").toString(), "--help");
  }

  /** Runs {@link #launcher} at a terminal at which a user answers. */
  private List<String> atTerminal() {
    return atTerminal(launcher());
  }

  private static List<String> atTerminal(List<String> command) {
    Needed.check("script", Files.isExecutable(Path.of("/usr/bin/script")), () -> "not there");
    return List.of("/usr/bin/script", "-qec", String.join(" ", command), "/dev/null");
  }

  private Ended run(List<String> command, String input) throws IOException, InterruptedException {
    Path in = Files.writeString(work.resolve("in.txt"), input);
    Path out = work.resolve("out.txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(work.toFile())
            .redirectInput(in.toFile())
            .redirectOutput(out.toFile())
            .redirectErrorStream(true);
    builder.environment().put("PATH", programs.toString());
    builder.environment().put("SHELL", "/bin/bash");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().remove("DDSTORE_UNDER_TEST");
    builder.environment().remove("DDSTORE_NO_INSTALL");
    try (ProcessTree processes = ProcessTree.start(builder)) {
      int status = processes.awaitExit(LIMIT);
      return new Ended(status, Files.readString(out, UTF_8));
    }
  }

  @Test
  void printsTheCommandWithoutATerminal() throws Exception {
    Ended ended = run(asUser(launcher()), "y\n");
    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.text()).contains("run: " + COMMAND).contains(" maven").doesNotContain("[y/N]");
    assertThat(notesOf("sudo")).as("calls of sudo").isEmpty();
  }

  @Test
  void printsTheCommandAfterARefusal() throws Exception {
    for (String answer : List.of("n\n", "\n")) {
      Ended ended = run(asUser(atTerminal()), answer);
      assertThat(ended.status()).isEqualTo(1);
      assertThat(ended.text()).contains("ddstore: run \"" + COMMAND).contains("run: " + COMMAND);
      assertThat(notesOf("sudo")).as("calls of sudo").isEmpty();
    }
  }

  @Test
  void installsAfterConsent() throws Exception {
    Ended ended = run(asUser(atTerminal()), "y\n");
    assertThat(ended.text()).contains("[y/N]").contains("apt-get failed");
    assertThat(notesOf("sudo"))
        .as("calls of sudo")
        .isEqualTo("env DEBIAN_FRONTEND=noninteractive apt-get update\n");
  }

  @Test
  void installsThoseToolsOfTestsThatTheDistributionHas() throws Exception {
    Needed.check("root", IS_ROOT, () -> "another user");
    note("mvn");
    program("apt-cache", "[[ $* != *anndata* ]]");
    program("apt-get", "echo \"$*\" >>'%s'".formatted(work.resolve("checkout/apt-get.notes")));

    Ended ended = run(List.of(work.resolve("checkout/ddstore").toString(), "test"), "");

    assertThat(notesOf("apt-get").lines()).as(ended.text()).hasSize(2);
    assertThat(notesOf("apt-get"))
        .startsWith("update\ninstall -y --no-install-recommends ")
        .contains(" clang-format jupyter-notebook jupyter-nbconvert ")
        .doesNotContain("anndata");
  }

  @Test
  void printsTheCommandForTheToolsOfTests() throws Exception {
    note("mvn");
    String launcher = work.resolve("checkout/ddstore").toString();

    Ended ended = run(asUser(List.of(launcher, "test")), "");

    assertThat(notesOf("apt-get")).isEmpty();
    assertThat(ended.text())
        .containsOnlyOnce(" will be skipped, or fail where CI=true; run: " + COMMAND)
        .contains(" clang-format jupyter-notebook ");
  }

  private void createSources() throws IOException {
    for (String source : SOURCES) {
      create(work.resolve("checkout").resolve(source));
    }
  }

  private static void create(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Files.createFile(file);
  }

  @Test
  void deletesTheClassesOfAModuleWhoseListOfSourcesHasChanged() throws Exception {
    createSources();
    program("mvn", "exit 1");
    Path built = work.resolve("checkout/native/target/classes/Built.class");
    run(launcher(), "");

    create(built);
    run(launcher(), "");
    assertThat(built).as("same sources").exists();

    create(work.resolve("checkout/native/src/main/java/Added.java"));
    run(launcher(), "");
    assertThat(built).as("a source more").doesNotExist();
  }

  /** Maven says no more than that a program failed. */
  @Test
  void showsTheEndOfTheCompilerLog() throws Exception {
    Path folder = work.resolve("checkout/native/target/c");
    createSources();
    program("mvn", "echo \"[ERROR] exec returned: 1\"; touch '" + folder + "/failed'; exit 1");
    Files.createDirectories(folder);
    String log = "first line\n" + "x\n".repeat(100) + "CMake Error: no such thing\n";
    Files.writeString(folder.resolve("compile.log"), log);

    Ended ended = run(launcher(), "");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.text())
        .contains("exec returned: 1")
        .contains("the end of " + folder.toRealPath().resolve("compile.log"))
        .contains("CMake Error: no such thing")
        .contains("the build failed")
        .doesNotContain("first line");
  }

  @Test
  void doesNotAskRoot() throws Exception {
    Needed.check("root", IS_ROOT, () -> "this is " + System.getProperty("user.name"));
    Ended ended = run(launcher(), "");
    assertThat(ended.text()).contains("apt-get failed").doesNotContain("[y/N]");
    assertThat(notesOf("apt-get")).isEqualTo("update\n");
    assertThat(notesOf("sudo")).as("calls of sudo").isEmpty();
  }
}

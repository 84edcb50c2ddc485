// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.MountNamespace;
import org.ddstore.contract.Needed;
import org.ddstore.read.GatherKernels;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  private static final int JVMS = 4;
  private static final String TMPDIR = "-Djava.io.tmpdir=";

  @BeforeEach
  void needsTheLibrary() {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
  }

  @Test
  void loadsFromTheClassPathAndLeavesNoFile() throws IOException {
    assertThat(NativeLibrary.problem()).isEmpty();
    Path path = Path.of(NativeLibrary.path());
    assertThat(path).exists();
    Path file = Path.of(Files.readSymbolicLink(path).toString().replace(" (deleted)", ""));
    assertThat(file.getFileName()).hasToString("libddstore.so");
    assertThat(file).doesNotExist();
    assertThat(file.getParent()).doesNotExist();
  }

  @Test
  @Tag("system")
  void loadsInManyJvmsAtOnce(@TempDir Path temporary) throws Exception {
    List<Child> children = new ArrayList<>();
    for (int i = 0; i < JVMS; i++) {
      children.add(Child.start(List.of(), TMPDIR + temporary, "-Duser.home=/proc"));
    }
    for (Child child : children) {
      assertThat(child.said()).startsWith("true loaded").contains(" native (C)");
    }
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  @Tag("system")
  void acceptsARelativeTemporaryDirectory(@TempDir Path temporary) throws Exception {
    Path relative = Path.of("").toAbsolutePath().relativize(temporary);
    assertThat(Child.start(List.of(), TMPDIR + relative).said()).contains("true loaded");
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  @Tag("system")
  void reportsADirectoryThatIsNotAPath() throws Exception {
    assertThat(Child.start(IllegalDirectory.class, List.of()).said())
        .startsWith("false cannot be loaded: java.nio.file.InvalidPathException")
        .contains("-Dddstore.native.directory");
  }

  @Test
  @Tag("system")
  void reportsANoexecDirectoryWithTheRemedy(@TempDir Path temporary) throws Exception {
    List<String> mounted = MountNamespace.of(temporary, "noexec \"$0\"");
    assertThat(Child.start(mounted, TMPDIR + temporary).said())
        .startsWith("false execution is not allowed in " + temporary)
        .contains("set another directory by -Dddstore.native.directory=DIRECTORY")
        .contains(" java (execution is not allowed");
    String other = "-D" + NativeLibrary.DIRECTORY_PROPERTY + "=" + Files.createTempDirectory("n-");
    assertThat(Child.start(mounted, TMPDIR + temporary, other).said()).startsWith("true loaded");
  }

  @Test
  @Tag("system")
  void reportsTheReasonForNotLoading(@TempDir Path temporary) throws Exception {
    Path missing = temporary.resolve("missing");
    assertThat(Child.start(List.of(), TMPDIR + missing).said())
        .contains("false cannot be unpacked in " + missing) // newer JDKs warn of it first
        .contains("-Dddstore.native.directory=DIRECTORY");
    assertThat(Child.start(List.of(), "-Dddstore.native=false").said())
        .startsWith("false switched off by -Dddstore.native=false");
    assertThat(Child.start(List.of(), "-Dddstore.kernel=java").said())
        .startsWith("true loaded")
        .contains(" java (-Dddstore.kernel=java)");
    assertThat(Child.start(List.of(), "-Dddstore.kernel=fast").said())
        .contains(" java (-Dddstore.kernel=fast is neither native nor java)");
  }

  /** As kill -9 leaves them; a young folder may be in use. */
  @Test
  @Tag("system")
  void deletesTheFoldersOfKilledProcesses(@TempDir Path temporary) throws Exception {
    Path young = Files.createDirectory(temporary.resolve("ddstore-native-1"));
    Path empty = Files.createDirectory(temporary.resolve("ddstore-native-2"));
    Path full = Files.createDirectory(temporary.resolve("ddstore-native-3"));
    Files.createFile(full.resolve("libddstore.so"));
    Path other = Files.createDirectory(temporary.resolve("other"));
    Path kept = Files.createFile(other.resolve("libddstore.so"));
    Path link = Files.createSymbolicLink(temporary.resolve("ddstore-native-4"), other);
    for (Path old : List.of(empty, full, other)) {
      Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    }
    assertThat(Child.start(List.of(), TMPDIR + temporary).said()).startsWith("true loaded");
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left).containsOnly(young, link, other);
    }
    assertThat(kept).exists();
  }

  @Test
  @Tag("system")
  void rejectsALibraryOfAnotherVersion(@TempDir Path classes) throws Exception {
    int wrong = NativeLibrary.ABI_VERSION + 1;
    compileInto(
        classes,
        "int Java_org_ddstore_nativeio_NativeLibrary_abiVersion(void) { return %d; }"
            .formatted(wrong));
    assertThat(Child.startWith(classes).said())
        .startsWith(
            "false it has ABI version %d, this class needs %d: two versions of DDStore are on the class path"
                .formatted(wrong, NativeLibrary.ABI_VERSION))
        .contains(" java (it has ABI version");
    compileInto(classes, "int something_else;");
    assertThat(Child.startWith(classes).said())
        .startsWith("false cannot be linked: ")
        .contains("abiVersion", " java (cannot be linked");
  }

  private static void compileInto(Path classes, String program) throws Exception {
    Path folder = classes.resolve("META-INF/native/linux-" + architecture());
    Files.createDirectories(folder);
    Path source = Files.writeString(classes.resolve("library.c"), program + "\n");
    String library = folder.resolve("libddstore.so").toString();
    Process compiler;
    try {
      compiler =
          new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library, source.toString())
              .inheritIO()
              .start();
    } catch (IOException e) {
      Needed.check("a C compiler", false, e::getMessage);
      return;
    }
    assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).as("compiled in time").isTrue();
    assertThat(compiler.exitValue()).isZero();
  }

  private static String architecture() {
    String name = System.getProperty("os.arch");
    return name.equals("amd64") ? "x86_64" : name;
  }

  static final class Says {
    public static void main(String[] arguments) {
      System.out.println(
          NativeLibrary.isLoaded()
              + " "
              + NativeLibrary.description()
              + " "
              + GatherKernels.description());
    }
  }

  static final class IllegalDirectory {
    public static void main(String[] arguments) {
      System.setProperty(NativeLibrary.DIRECTORY_PROPERTY, "a\0b");
      Says.main(arguments);
    }
  }

  private record Child(Process process) {
    static Child start(List<String> before, String... options) throws IOException {
      return start(Says.class, before, options);
    }

    static Child startWith(Path classes) throws IOException {
      List<String> command = ChildJvm.command();
      int last = command.size() - 1;
      command.set(last, classes + File.pathSeparator + command.get(last));
      command.add(Says.class.getName());
      return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    static Child start(Class<?> main, List<String> before, String... options) throws IOException {
      List<String> command = new ArrayList<>(before);
      List<String> java = ChildJvm.command();
      command.addAll(java.subList(0, java.size() - 2)); // the class path goes last
      command.addAll(List.of(options));
      command.addAll(java.subList(java.size() - 2, java.size()));
      command.add(main.getName());
      return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    String said() throws Exception {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

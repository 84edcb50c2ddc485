// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every source file names the licence of the project in its first two lines. */
class LicenseHeaderTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));
  private static final String LICENSE = "SPDX-License-Identifier: Apache-2.0";

  /**
   * Folders that a build or a user fills, left out where git cannot be asked. {@code build} is that
   * of {@code native/mpi}.
   */
  private static final Set<String> UNTRACKED =
      Set.of("target", "build", ".git", ".idea", ".vscode", ".settings", "metastore_db");

  private static final Set<String> WITH_HASH =
      Set.of(".clang-format", ".editorconfig", "CMakeLists.txt");

  /** Returns the line that a file of this name needs; empty for a kind of file without header. */
  private static Optional<String> header(Path file, String firstLine) {
    String name = file.getFileName().toString();
    if (name.endsWith(".java") || name.endsWith(".c") || name.endsWith(".h")) {
      return Optional.of("// " + LICENSE);
    }
    if (name.equals("pom.xml")) {
      return Optional.of("<!-- " + LICENSE + " -->");
    }
    if (name.endsWith(".properties") || WITH_HASH.contains(name) || firstLine.startsWith("#!")) {
      return Optional.of("# " + LICENSE);
    }
    return Optional.empty();
  }

  /** Returns the line where a header belongs: the first one that neither a shell nor XML claims. */
  private static String headerLine(List<String> lines) {
    boolean isClaimed = lines.get(0).startsWith("#!") || lines.get(0).startsWith("<?xml");
    return lines.get(isClaimed ? 1 : 0);
  }

  /**
   * Returns the files below a folder that belong to the project: those that git does not ignore, or
   * without git those outside the folders that builds and users fill.
   */
  private static List<Path> files(Path root) throws IOException {
    List<Path> files = filesOfGit(root);
    return files.isEmpty() ? filesOfFolders(root) : files;
  }

  /** Returns the files that git does not ignore; none without git or outside a working tree. */
  private static List<Path> filesOfGit(Path root) throws IOException {
    ProcessBuilder command =
        new ProcessBuilder("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard");
    command.directory(root.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
    command.environment().keySet().removeIf(name -> name.startsWith("GIT_")); // set within hooks
    Process git;
    try {
      git = command.start();
    } catch (IOException e) {
      return List.of(); // there is no git
    }
    String names = new String(git.getInputStream().readAllBytes(), UTF_8);
    return Stream.of(names.split("\0"))
        .map(root::resolve)
        .filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) // not deleted
        .toList();
  }

  private static List<Path> filesOfFolders(Path root) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            boolean isTracked = !UNTRACKED.contains(folder.getFileName().toString());
            return isTracked || folder.equals(root)
                ? FileVisitResult.CONTINUE
                : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  private static List<String> firstLines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, UTF_8)) {
      return lines.limit(2).toList();
    } catch (UncheckedIOException e) {
      return List.of(); // not text
    }
  }

  @Test
  void everySourceFileNamesItsLicence() throws IOException {
    List<String> missing = new ArrayList<>();
    int checked = 0;
    for (Path file : files(ROOT)) {
      List<String> lines = firstLines(file);
      Optional<String> header = header(file, lines.isEmpty() ? "" : lines.get(0));
      if (header.isPresent()) {
        checked++;
        if (lines.size() < 2 || !headerLine(lines).equals(header.get())) {
          missing.add("%s: \"%s\"".formatted(ROOT.relativize(file), header.get()));
        }
      }
    }
    assertThat(checked).as("files that need a header, below " + ROOT).isGreaterThan(500);
    assertThat(missing).as("files without their header").isEmpty();
  }

  @Test
  void leavesOutFilesThatGitIgnores(@TempDir Path root) throws Exception {
    Needed.check("git", initializes(root), () -> "git init fails");
    Files.writeString(root.resolve(".gitignore"), "scratch/\n");
    Files.writeString(root.resolve("New.java"), "");
    Files.writeString(Files.createDirectory(root.resolve("scratch")).resolve("Trial.java"), "");

    assertThat(files(root))
        .extracting(root::relativize)
        .map(Path::toString)
        .containsExactlyInAnyOrder(".gitignore", "New.java");
  }

  private static boolean initializes(Path root) throws InterruptedException {
    ProcessBuilder command = new ProcessBuilder("git", "init", "--quiet", root.toString());
    command.environment().keySet().removeIf(name -> name.startsWith("GIT_")); // set within hooks
    try {
      return command.start().waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no git
    }
  }

  @Test
  void leavesOutFoldersOfBuildsWithoutGit(@TempDir Path root) throws IOException {
    Files.writeString(root.resolve("New.java"), "");
    Files.writeString(Files.createDirectory(root.resolve("target")).resolve("Made.java"), "");

    assertThat(filesOfFolders(root)).containsExactly(root.resolve("New.java"));
  }
}

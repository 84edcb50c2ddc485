// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of the project, without those that a build or a user makes. */
final class ProjectFiles {
  /**
   * Folders that a build or a user fills, left out where git cannot be asked. {@code build} is that
   * of {@code native/mpi}.
   */
  private static final Set<String> UNTRACKED =
      Set.of("target", "build", ".git", ".idea", ".vscode", ".settings", "metastore_db");

  private ProjectFiles() {}

  /**
   * Returns the files below a folder that belong to the project: those that git does not ignore, or
   * without git those outside the folders that builds and users fill.
   */
  static List<Path> below(Path root) throws IOException {
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

  static List<Path> filesOfFolders(Path root) throws IOException {
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
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.ddstore.contract.Needed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectFilesTest {
  @Test
  void leavesOutFilesThatGitIgnores(@TempDir Path root) throws Exception {
    Needed.check("git", initializes(root), () -> "git init fails");
    Files.writeString(root.resolve(".gitignore"), "scratch/\n");
    Files.writeString(root.resolve("New.java"), "");
    Files.writeString(Files.createDirectory(root.resolve("scratch")).resolve("Trial.java"), "");

    assertThat(ProjectFiles.below(root))
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

    assertThat(ProjectFiles.filesOfFolders(root)).containsExactly(root.resolve("New.java"));
  }
}

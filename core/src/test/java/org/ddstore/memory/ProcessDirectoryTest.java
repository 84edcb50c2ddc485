// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.TestRoots;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ProcessDirectoryTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT32));
  private static final int NOBODY = 65_534;
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final List<Process> children = new ArrayList<>();
  private Path root;

  @BeforeEach
  void createRoot() throws IOException {
    root = TestRoots.sharedMemory();
  }

  @AfterEach
  void endChildrenAndDeleteRoot() throws Exception {
    for (Process child : children) {
      child.destroyForcibly().waitFor();
    }
    TestRoots.delete(root);
  }

  static final class Holder {
    public static void main(String[] args) throws IOException {
      SegmentWriter writer = SegmentWriter.create(Backing.SHM, Path.of(args[0]), "held", SCHEMA);
      writer.appendZeros(1000);
      System.out.println(writer.seal().path());
      while (System.in.read() >= 0) {
        // waits for the end of the input
      }
    }
  }

  private Path startHolder() throws IOException {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(List.of(Holder.class.getName(), root.toString()));
    Process child =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    children.add(child);
    BufferedReader out = child.inputReader(StandardCharsets.UTF_8);
    return Path.of(out.readLine());
  }

  private Path directory(BootId host, String end) throws IOException {
    return Files.createDirectory(path(host, end), OWNER_ONLY);
  }

  private Path path(BootId host, String end) throws IOException {
    return root.resolve("ddstore-%d-%s-%s".formatted(uid(), host, end));
  }

  private Path dead(BootId host, String end) throws IOException {
    Path directory = directory(host, end);
    Files.createFile(directory.resolve("lock"));
    Files.createFile(directory.resolve("segment"));
    return directory;
  }

  /** A directory whose process died before it created the lock file. */
  @Test
  void sweepsAnOldDirectoryWithoutALockFile() throws IOException {
    Path fresh = directory(BootId.ofThisHost(), "1-00000001");
    Path old = directory(BootId.ofThisHost(), "1-00000002");
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(120)));

    ProcessDirectory.sweepDead(root);

    assertThat(fresh).exists();
    assertThat(old).doesNotExist();
  }

  /** As tasks do while their process ends. */
  @Test
  void deletesFilesCreatedDuringItsDeletion() throws Exception {
    for (int round = 0; round < 20; round++) {
      ProcessDirectory directory = ProcessDirectory.acquire(root);
      CompletableFuture<Integer> files =
          CompletableFuture.supplyAsync(() -> createFilesUntilGone(directory.path()));
      Path first = directory.path().resolve("0");
      await("first file")
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(1)) // the fewer files, the sooner they are deleted
          .atMost(Duration.ofSeconds(30))
          .until(() -> Files.exists(first));
      directory.release();
      assertThat(files.get(30, TimeUnit.SECONDS)).isPositive();
      assertThat(root).isEmptyDirectory();
    }
  }

  private static int createFilesUntilGone(Path directory) {
    for (int i = 0; ; i++) {
      try {
        Files.createFile(directory.resolve(Integer.toString(i)));
      } catch (IOException e) {
        return i;
      }
    }
  }

  @Test
  void isPrivateAndDeletedWithTheLastReference() throws IOException {
    ProcessDirectory first = ProcessDirectory.acquire(root);
    ProcessDirectory second = ProcessDirectory.acquire(root);
    assertThat(second).isSameAs(first);
    assertThat(first.path().getParent()).isEqualTo(root);
    assertThat(first.path().getFileName().toString())
        .matches(
            "ddstore-%d-%s-%d-[0-9a-f]{8}"
                .formatted(uid(), BootId.ofThisHost(), ProcessHandle.current().pid()));
    assertThat(permissions(first.path())).isEqualTo("rwx------");
    assertThat(permissions(first.lockFile())).isEqualTo("rw-------");
    assertThat(ProcessDirectory.isAlive(first.lockFile())).isTrue();
    first.release();
    assertThat(first.path()).exists();
    second.release();
    assertThat(root).isEmptyDirectory();
    assertThat(ProcessDirectory.isAlive(first.lockFile())).isFalse();
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  @Tag("system")
  void sweepsFilesOfKilledButNotOfLiveProcesses() throws Exception {
    Path killed = startHolder();
    Path living = startHolder();
    children.get(0).destroyForcibly().waitFor();
    assertThat(killed).exists();
    assertThat(ProcessDirectory.isAlive(killed.resolveSibling("lock"))).isFalse();
    assertThat(ProcessDirectory.isAlive(living.resolveSibling("lock"))).isTrue();
    ProcessDirectory own = ProcessDirectory.acquire(root);
    assertThat(killed.getParent()).doesNotExist();
    assertThat(living).exists();
    own.release();
    assertThat(own.path()).doesNotExist();
    assertThat(living).exists();
    children.get(1).getOutputStream().close();
    children.get(1).waitFor();
    assertThat(root).as("after the orderly end of a process").isEmptyDirectory();
  }

  @Test
  @Tag("system")
  void acquireSweepsWhileTheDirectoryIsHeld() throws Exception {
    ProcessDirectory held = ProcessDirectory.acquire(root);
    Path killed = startHolder();
    children.get(0).destroyForcibly().waitFor();
    ProcessDirectory.acquire(root).release();
    assertThat(killed.getParent()).doesNotExist();
    assertThat(held.lockFile()).exists();
    held.release();
  }

  @Test
  @Tag("system")
  void sweepsWhileTheDirectoryIsHeld() throws Exception {
    ProcessDirectory held = ProcessDirectory.acquire(root);
    try {
      Path killed = startHolder();
      children.get(0).destroyForcibly().waitFor();
      await("sweep").atMost(Duration.ofSeconds(30)).until(() -> !Files.exists(killed.getParent()));
      assertThat(held.lockFile()).exists();
    } finally {
      held.release();
    }
  }

  /** On a shared file system its lock may be unknown here, and its process may live. */
  @Test
  void leavesDirectoriesOfOtherHosts() throws IOException {
    BootId other = new BootId(~BootId.ofThisHost().bits());
    Path elsewhere = dead(other, "1-00000001");
    Path withoutLock = directory(other, "1-00000002");
    Files.setLastModifiedTime(withoutLock, FileTime.from(Instant.now().minusSeconds(120)));
    Path here = dead(BootId.ofThisHost(), "1-00000003");

    ProcessDirectory.acquire(root).release();
    ProcessDirectory.sweepDead(root);

    assertThat(elsewhere.resolve("segment")).exists();
    assertThat(withoutLock).exists();
    assertThat(here).doesNotExist();
  }

  /** Any user may make files in /dev/shm; none of these stops this one, and all are left. */
  @Test
  void ignoresForeignFilesWithSimilarNames() throws IOException {
    BootId here = BootId.ofThisHost();
    Path former = Files.writeString(root.resolve("ddstore-" + uid()), "not ours");
    Path file = Files.writeString(path(here, "1-00000001"), "not ours");
    Path open = dead(here, "1-00000002");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"), OWNER_ONLY);
    Files.createFile(elsewhere.resolve("lock"));
    Path link = Files.createSymbolicLink(path(here, "1-00000003"), elsewhere);

    ProcessDirectory own = ProcessDirectory.acquire(root);
    own.release();

    assertThat(own.path()).doesNotExist();
    assertThat(former).hasContent("not ours");
    assertThat(file).hasContent("not ours");
    assertThat(open.resolve("segment")).exists();
    assertThat(link).isSymbolicLink();
    assertThat(elsewhere.resolve("lock")).exists();
  }

  @Test
  void leavesDirectoriesOfOtherUsers() throws IOException {
    Path foreign = dead(BootId.ofThisHost(), "1-00000001");
    try {
      Files.setAttribute(foreign, "unix:uid", NOBODY);
    } catch (FileSystemException e) {
      assumeTrue(false, "only root gives a directory to another user: " + e.getMessage());
    }
    ProcessDirectory.acquire(root).release();
    assertThat(foreign.resolve("segment")).exists();
  }

  private int uid() throws IOException {
    return (int) Files.getAttribute(root, "unix:uid");
  }

  @Test
  void namesAMissingRoot() {
    Path nowhere = root.resolve("nowhere");
    assertThatThrownBy(() -> ProcessDirectory.acquire(nowhere))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining(nowhere.toString());
  }

  @Test
  @Tag("system")
  void concurrentProcessesDoNotDisturbEachOther() throws Exception {
    List<CompletableFuture<Integer>> ends = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    for (int i = 0; i < 4; i++) {
      ends.add(CompletableFuture.supplyAsync(this::comeAndGo, threads));
    }
    for (CompletableFuture<Integer> end : ends) {
      assertThat(end.get()).isZero();
    }
    threads.shutdown();
    assertThat(root).isEmptyDirectory();
  }

  static final class Visitor {
    public static void main(String[] args) {
      for (int i = 0; i < 300; i++) {
        SegmentWriter writer =
            SegmentWriter.create(Backing.SHM, Path.of(args[0]), "visit" + i, SCHEMA);
        writer.appendZeros(1);
        writer.seal().release();
      }
    }
  }

  private int comeAndGo() {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(List.of(Visitor.class.getName(), root.toString()));
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

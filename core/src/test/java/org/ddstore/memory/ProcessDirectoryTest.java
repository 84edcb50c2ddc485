package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.ddstore.Backing;
import org.ddstore.DDStoreException;
import org.ddstore.DType;
import org.ddstore.Field;
import org.ddstore.Schema;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.TestRoots;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ProcessDirectoryTest {
  private static final Schema SCHEMA = Schema.of(Field.fixed("x", DType.INT32));

  private final List<Process> children = new ArrayList<>();
  private Path root;
  private Path parent;

  @BeforeEach
  void createRoot() throws IOException {
    root = TestRoots.sharedMemory();
    parent = root.resolve("ddstore-" + Files.getAttribute(root, "unix:uid"));
  }

  @AfterEach
  void endChildrenAndDeleteRoot() throws Exception {
    for (Process child : children) {
      child.destroyForcibly().waitFor();
    }
    TestRoots.delete(root);
  }

  /** A process that holds a segment until its input ends; prints where. */
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

  /** What a process leaves that dies before it has a lock file. */
  @Test
  void anOldDirectoryWithoutALockFileIsSwept() throws IOException {
    Files.createDirectory(parent);
    Path fresh = Files.createDirectory(parent.resolve("1-00000001"));
    Path old = Files.createDirectory(parent.resolve("1-00000002"));
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(120)));

    ProcessDirectory.sweepDead(root);

    assertThat(fresh).exists();
    assertThat(old).doesNotExist();
  }

  /** As tasks do while their process ends. */
  @Test
  void filesMadeWhileTheDirectoryIsDeletedDoNotKeepIt() throws Exception {
    for (int round = 0; round < 20; round++) {
      ProcessDirectory directory = ProcessDirectory.acquire(root);
      CompletableFuture<Integer> files =
          CompletableFuture.supplyAsync(() -> createFilesUntilGone(directory.path()));
      Path first = directory.path().resolve("0");
      await("first file").atMost(Duration.ofSeconds(30)).until(() -> Files.exists(first));
      directory.release();
      assertThat(files.get(30, TimeUnit.SECONDS)).isPositive();
      assertThat(parent).doesNotExist();
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
  void isTheOwnersAloneAndGoesWithTheLastReference() throws IOException {
    ProcessDirectory first = ProcessDirectory.acquire(root);
    ProcessDirectory second = ProcessDirectory.acquire(root);
    assertThat(second).isSameAs(first);
    assertThat(first.path().getParent()).isEqualTo(parent);
    assertThat(permissions(parent)).isEqualTo("rwx------");
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
  void sweepsWhatAKilledProcessLeftAndNothingOfALiveOne() throws Exception {
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
  void aProcessThatHoldsItsDirectorySweepsAtTheNextSegment() throws Exception {
    ProcessDirectory held = ProcessDirectory.acquire(root);
    Path killed = startHolder();
    children.get(0).destroyForcibly().waitFor();
    ProcessDirectory.acquire(root).release();
    assertThat(killed.getParent()).doesNotExist();
    assertThat(held.lockFile()).exists();
    held.release();
  }

  @Test
  void aForeignFileInItsPlaceIsNamed() throws IOException {
    Files.writeString(parent, "not ours");
    assertThatThrownBy(() -> ProcessDirectory.acquire(root))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("cannot create a directory for segments under " + root)
        .hasMessageContaining(parent + " exists and is not a directory of this user: remove it");
    assertThat(parent).hasContent("not ours");
  }

  @Test
  void aSymbolicLinkInItsPlaceIsNotFollowed() throws IOException {
    Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
    Files.createSymbolicLink(parent, elsewhere);
    assertThatThrownBy(() -> ProcessDirectory.acquire(root))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("is not a directory of this user");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void foreignFilesBesideItAreLeft() throws IOException {
    ProcessDirectory.acquire(root).release();
    Files.createDirectory(parent);
    Path file = Files.writeString(parent.resolve("file"), "not ours");
    Path directory = Files.createDirectory(parent.resolve("directory"));
    ProcessDirectory own = ProcessDirectory.acquire(root);
    own.release();
    assertThat(own.path()).doesNotExist();
    assertThat(file).exists();
    assertThat(directory).exists();
  }

  @Test
  void aRootThatIsNotThereIsNamed() {
    Path nowhere = root.resolve("nowhere");
    assertThatThrownBy(() -> ProcessDirectory.acquire(nowhere))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining(nowhere.toString());
  }

  @Test
  @Tag("system")
  void processesThatComeAndGoAtOnceDoNotDisturbEachOther() throws Exception {
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

  /** Opens and closes its directory many times. */
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

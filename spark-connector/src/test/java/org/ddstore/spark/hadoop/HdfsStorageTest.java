// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.datanode.DataNodeFaultInjector;
import org.ddstore.checkpoint.CheckpointException;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.checkpoint.CorruptCheckpointException;
import org.ddstore.checkpoint.ForwardingStorage;
import org.ddstore.checkpoint.SaveFailure;
import org.ddstore.checkpoint.SavingRanks;
import org.ddstore.checkpoint.StorageContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A real HDFS, whose nodes are stopped and hang while ranks save. */
@Tag("system")
@Tag("slow")
@Timeout(120)
class HdfsStorageTest extends StorageContract {
  private static final Duration SHORT = Duration.ofSeconds(3);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir static java.nio.file.Path folder;

  private static MiniHdfs hdfs;
  private static int directories;

  private String directory;

  @BeforeAll
  static void start() throws IOException {
    hdfs = MiniHdfs.start(folder);
  }

  @AfterAll
  static void stop() throws IOException {
    hdfs.close();
    assertThat(folder).isEmptyDirectory();
  }

  @BeforeEach
  void nextDirectory() {
    directory = "/test-" + ++directories + "/checkpoints";
  }

  @Override
  protected CheckpointStorage storage() {
    try {
      return hdfs.storage(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void assertNotSaved(CheckpointStorage storage, String... message)
      throws Exception {
    for (SaveFailure effect : SaveFailure.values()) {
      assertThat(outcomes(storage, SavingRanks.options().onFailure(effect)))
          .allSatisfy(
              outcome ->
                  assertThat(outcome)
                      .isInstanceOf(CheckpointException.class)
                      .asString()
                      .contains("saved to " + storage)
                      .contains(message)
                      .doesNotContain("\n"));
    }
  }

  /** Returns the outcome of one save on each of two ranks: an exception, thrown or reported. */
  private static List<Object> outcomes(CheckpointStorage storage, CheckpointOptions options)
      throws Exception {
    return SavingRanks.outcomes(
        2,
        storage,
        options,
        (checkpoints, rank) -> {
          SavingRanks.save(checkpoints, rank, 1);
          checkpoints.await();
          return checkpoints.lastFailure().orElseThrow();
        });
  }

  @Test
  void aDirectoryOfAnotherUserIsRefusedWithTheNameOfTheUser() throws Exception {
    Path closed = new Path(directory).getParent();
    hdfs.files().mkdirs(closed);
    hdfs.files().setPermission(closed, new FsPermission("555"));
    assertNotSaved(
        hdfs.storage(directory, "visitor"),
        "Permission denied: user=visitor, access=WRITE, inode=\"" + closed + "\":",
        "check the path, its permissions and its free space");
    Path unreadable = new Path(directory);
    hdfs.files().mkdirs(unreadable);
    hdfs.files().setPermission(unreadable, new FsPermission("700"));
    assertNotSaved(
        hdfs.storage(directory, "visitor"),
        "Permission denied: user=visitor, access=READ_EXECUTE, inode=\"" + directory + "\":");
  }

  @Test
  void anotherUserSavesToADirectoryOfItsOwn() throws Exception {
    Path home = new Path(directory).getParent();
    hdfs.files().mkdirs(home);
    hdfs.files().setOwner(home, "visitor", "visitors");
    CheckpointStorage storage = hdfs.storage(directory, "visitor");
    assertThat(
            SavingRanks.values(
                2,
                storage,
                SavingRanks.options(),
                (checkpoints, rank) -> {
                  SavingRanks.save(checkpoints, rank, 1);
                  return SavingRanks.check(checkpoints.latest().orElseThrow());
                }))
        .containsOnly(1L);
    assertThat(hdfs.files().getFileStatus(new Path(directory)).getOwner()).isEqualTo("visitor");
  }

  @Test
  void aFileInPlaceOfTheDirectoryIsNamed() throws Exception {
    try (OutputStream file = hdfs.files().create(new Path(directory))) {
      file.write(1);
    }
    assertNotSaved(storage(), "not a directory: " + storage());
  }

  @Test
  void aQuotaThatIsUsedUpIsNamed() throws Exception {
    Path limited = new Path(directory).getParent();
    hdfs.files().mkdirs(limited);
    hdfs.files().setQuota(limited, HdfsConstants.QUOTA_DONT_SET, 1 << 20);
    assertNotSaved(storage(), "The DiskSpace quota of " + limited + " is exceeded");
  }

  /** An action on HDFS. */
  private interface Step {
    void run() throws Exception;
  }

  /** Saves a checkpoint of three chunks. */
  private static void saveModel(Checkpoints checkpoints, long seed) {
    checkpoints.save(SavingRanks.state(seed), "model", out -> out.write(new byte[3 * 4096]));
  }

  /** Returns a storage that runs a step before the second chunk of checkpoint 2 is created. */
  private CheckpointStorage disturbed(Step step) {
    return new ForwardingStorage(storage()) {
      private final AtomicBoolean done = new AtomicBoolean();

      @Override
      public OutputStream create(String file) throws IOException {
        if (file.contains("/0000000002/r00000-model-000001") && done.compareAndSet(false, true)) {
          try {
            step.run();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        }
        return super.create(file);
      }
    };
  }

  /**
   * Checks that ranks save checkpoints 1 and 3 if HDFS fails while they save checkpoint 2 and works
   * again afterwards. One thread writes, so that HDFS fails between two chunks.
   *
   * @param timeout longest time of a save
   */
  private void assertTrainingContinues(Step failure, Step repair, Duration timeout)
      throws Exception {
    CompletableFuture<Void> repaired = new CompletableFuture<>();
    SavingRanks.values(
        2,
        disturbed(failure),
        SavingRanks.options().writers(1).onFailure(SaveFailure.REPORT).saveTimeout(timeout),
        (checkpoints, rank) -> {
          saveModel(checkpoints, 1);
          checkpoints.await();
          assertThat(checkpoints.lastFailure()).isEmpty();
          long startedNs = System.nanoTime();
          saveModel(checkpoints, 2);
          checkpoints.await();
          assertThat(Duration.ofNanos(System.nanoTime() - startedNs)).isLessThan(DEADLINE);
          assertThat(checkpoints.lastFailure().orElseThrow().getMessage())
              .contains("checkpoint 2 was not saved to " + hdfs.uri(directory))
              .doesNotContain("\n");
          if (rank == 0) {
            repair.run();
            repaired.complete(null);
          }
          repaired.get(1, TimeUnit.MINUTES);
          saveModel(checkpoints, 3);
          checkpoints.await();
          assertThat(checkpoints.numbers()).containsExactly(1L, 3L);
          assertThat(checkpoints.latest().orElseThrow().bytes("model")).hasSize(3 * 4096);
          return null;
        });
  }

  @Test
  void trainingContinuesWhileTheDataNodeIsStopped() throws Exception {
    assertTrainingContinues(hdfs::stopDataNode, hdfs::startDataNode, DEADLINE);
  }

  @Test
  void trainingContinuesWhileTheNameNodeIsStopped() throws Exception {
    assertTrainingContinues(hdfs::stopNameNode, hdfs::startNameNode, SHORT);
  }

  /** A DataNode that accepts blocks and neither stores nor acknowledges them. */
  private static final class Hang extends DataNodeFaultInjector {
    private final CountDownLatch end = new CountDownLatch(1);

    @Override
    public void delay() {
      try {
        end.await(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Test
  void trainingContinuesWhileTheDataNodeHangs() throws Exception {
    Hang hang = new Hang();
    DataNodeFaultInjector healthy = DataNodeFaultInjector.get();
    try {
      assertTrainingContinues(
          () -> DataNodeFaultInjector.set(hang),
          () -> {
            DataNodeFaultInjector.set(healthy);
            hang.end.countDown();
          },
          SHORT);
    } finally {
      DataNodeFaultInjector.set(healthy);
      hang.end.countDown();
    }
  }

  @Test
  void aDataNodeThatHangsDoesNotKeepTheThreadsOfATraining() throws Exception {
    Hang hang = new Hang();
    DataNodeFaultInjector healthy = DataNodeFaultInjector.get();
    try {
      CheckpointStorage storage = disturbed(() -> DataNodeFaultInjector.set(hang));
      long startedNs = System.nanoTime();
      List<Object> outcomes =
          SavingRanks.outcomes(
              2,
              storage,
              SavingRanks.options().writers(1).saveTimeout(SHORT),
              (checkpoints, rank) -> {
                saveModel(checkpoints, 1);
                saveModel(checkpoints, 2);
                return null;
              });
      assertThat(Duration.ofNanos(System.nanoTime() - startedNs)).isLessThan(DEADLINE);
      assertThat(outcomes)
          .allSatisfy(
              outcome -> {
                assertThat(outcome)
                    .isInstanceOf(CheckpointException.class)
                    .asString()
                    .contains("did not write all chunks within PT3S");
                assertThat(((Throwable) outcome).getSuppressed()).as("failures to end").isEmpty();
              });
    } finally {
      DataNodeFaultInjector.set(healthy);
      hang.end.countDown();
    }
  }

  @Test
  void aNameNodeThatDoesNotRespondEndsTheSave() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Path path = new Path("hdfs://127.0.0.1:" + silent.getLocalPort() + "/checkpoints");
      CheckpointStorage storage = HadoopStorage.of(path, new Configuration());
      long startedNs = System.nanoTime();
      assertThat(outcomes(storage, SavingRanks.options().saveTimeout(SHORT)))
          .allSatisfy(
              outcome ->
                  assertThat(outcome)
                      .isInstanceOf(CheckpointException.class)
                      .asString()
                      .contains("no checkpoint was saved to " + path)
                      .contains("did not respond within 3,000 ms"));
      assertThat(Duration.ofNanos(System.nanoTime() - startedNs)).isLessThan(DEADLINE);
      path.getFileSystem(new Configuration()).close();
    }
  }

  @Test
  void refusesABlockThatTheDiskOfTheDataNodeHasChanged() throws Exception {
    SavingRanks.values(
        2,
        storage(),
        SavingRanks.options(),
        (checkpoints, rank) -> {
          saveModel(checkpoints, 1);
          checkpoints.await();
          if (rank == 0) {
            hdfs.damageBlock(directory + "/" + newest("model-000001"));
          }
          assertThat(checkpoints.numbers()).containsExactly(1L);
          assertThatThrownBy(() -> checkpoints.latest().orElseThrow().bytes("model"))
              .isInstanceOf(CorruptCheckpointException.class)
              .hasMessageContaining("r00000-model-000001 has changed: Checksum ")
              .hasMessageContaining("to continue with the checkpoint before it");
          return null;
        });
  }
}

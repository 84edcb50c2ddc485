// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Storages that fail during a save. */
@Timeout(120)
class StorageFailureTest {
  private static final String NO_SPACE = "No space left on device";

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("checkpoints");
  }

  private CheckpointStorage storage() {
    return CheckpointStorage.local(directory());
  }

  private static final int NEVER_SECONDS = 600;

  private void assertSecondSaveFails(Publication disturbed, Duration timeout, String text)
      throws Exception {
    AtomicInteger manifests = new AtomicInteger();
    CheckpointStorage storage =
        new ForwardingStorage(storage()) {
          @Override
          public void publish(String file, byte[] content) throws IOException {
            if (manifests.incrementAndGet() == 1) {
              super.publish(file, content);
            } else {
              disturbed.run(() -> super.publish(file, content));
            }
          }
        };
    List<Object> outcomes =
        SavingRanks.outcomes(
            2,
            storage,
            SavingRanks.options().saving(Saving.SYNCHRONOUS).saveTimeout(timeout),
            (checkpoints, rank) -> {
              SavingRanks.save(checkpoints, rank, 1);
              SavingRanks.save(checkpoints, rank, 2);
              return null;
            });
    SavingRanks.assertFailed(outcomes, "checkpoint 2 was not saved to " + directory(), text);
    SavingRanks.assertLatest(2, storage(), 1);
  }

  private interface Step {
    void run() throws IOException;
  }

  private interface Publication {
    void run(Step publish) throws IOException;
  }

  @Test
  void aStorageThatFailsAfterThePublicationLeavesThePreviousCheckpoint() throws Exception {
    assertSecondSaveFails(
        publish -> {
          publish.run();
          throw new IOException("connection reset");
        },
        Duration.ofSeconds(60),
        "connection reset");
  }

  @Test
  void anUncheckedExceptionOfTheStorageReachesAllRanks() throws Exception {
    assertSecondSaveFails(
        publish -> {
          throw new IllegalStateException("file system is closed");
        },
        Duration.ofSeconds(60),
        "file system is closed");
  }

  @Test
  void aStorageThatDoesNotRespondFailsTheSaveOnAllRanks() throws Exception {
    assertSecondSaveFails(
        publish -> {
          try {
            TimeUnit.SECONDS.sleep(NEVER_SECONDS);
          } catch (InterruptedException e) {
            throw new InterruptedIOException();
          }
        },
        Duration.ofSeconds(3),
        "did not respond within 3,000 ms");
  }

  @ParameterizedTest
  @CsvSource({
    "BACKGROUND, r00001-stream4",
    "SYNCHRONOUS, r00001-stream4",
    "BACKGROUND, checkpoint-",
    "SYNCHRONOUS, checkpoint-"
  })
  void aFailedSaveEndsAllRanksOrIsReported(Saving saving, String path) throws Exception {
    FaultyStorage faulty = new FaultyStorage(directory());
    CheckpointOptions options = SavingRanks.options().saving(saving);
    List<Object> outcomes =
        SavingRanks.outcomes(
            2,
            faulty,
            options,
            (checkpoints, rank) -> {
              SavingRanks.save(checkpoints, rank, 1);
              checkpoints.await();
              faulty.fail(file -> file.contains(path));
              SavingRanks.save(checkpoints, rank, 2);
              checkpoints.await();
              return null;
            });
    SavingRanks.assertFailed(outcomes, "checkpoint 2 was not saved to " + directory(), NO_SPACE);
    assertThat(
            SavingRanks.values(
                2,
                faulty,
                options.onFailure(SaveFailure.REPORT),
                (checkpoints, rank) -> {
                  assertThat(SavingRanks.check(checkpoints.latest().orElseThrow())).isEqualTo(1);
                  SavingRanks.save(checkpoints, rank, 3);
                  checkpoints.await();
                  assertThat(checkpoints.lastFailure().orElseThrow())
                      .hasMessageContaining(NO_SPACE);
                  assertThat(checkpoints.numbers()).containsExactly(1L);
                  checkpoints.await();
                  faulty.fail(file -> false);
                  SavingRanks.save(checkpoints, rank, 4);
                  return SavingRanks.check(checkpoints.latest().orElseThrow());
                }))
        .containsOnly(4L);
  }

  @Test
  void aMissingDirectoryAndAFileInItsPlaceAreNamed() throws Exception {
    Path missing = folder.resolve("mount/checkpoints");
    Path file = Files.createFile(folder.resolve("file"));
    assertNotSaved(missing, "no such file or directory: " + folder.resolve("mount"));
    assertNotSaved(file, "not a directory: " + file);
    assertNotSaved(file.resolve("checkpoints"), "ot a directory");
  }

  private static void assertNotSaved(Path directory, String message) throws Exception {
    SavingRanks.assertNotSaved(
        CheckpointStorage.local(directory), "no checkpoint was saved to " + directory, message);
  }

  @Test
  void bodiesWaitWhileTheMemoryIsUsedUp() throws Exception {
    Semaphore permits = new Semaphore(0);
    AtomicInteger produced = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CheckpointStorage slow =
        new ForwardingStorage(storage()) {
          private final AtomicInteger written = new AtomicInteger();

          @Override
          public OutputStream create(String file) throws IOException {
            if (file.endsWith("claim")) {
              return super.create(file);
            }
            permits.acquireUninterruptibly();
            most.accumulateAndGet(produced.get() - written.getAndIncrement(), Math::max);
            permits.release();
            return super.create(file);
          }
        };
    CheckpointOptions options = SavingRanks.options().memoryLimit(3 * 4096).writers(1);
    SavingRanks.values(
        1,
        slow,
        options,
        (checkpoints, rank) -> {
          Thread opener =
              new Thread(
                  () -> {
                    while (produced.get() < 3) {
                      Thread.onSpinWait();
                    }
                    permits.release();
                  });
          opener.start();
          checkpoints.save(
              SavingRanks.state(1),
              "model",
              out -> {
                for (int chunk = 0; chunk < 100; chunk++) {
                  out.write(new byte[4096]);
                  produced.incrementAndGet();
                }
              });
          opener.join();
          assertThat(checkpoints.latest().orElseThrow().length("model")).isEqualTo(100 * 4096);
          return null;
        });
    assertThat(most).as("chunks in memory").hasValueLessThanOrEqualTo(4);
  }

  @Test
  void aStorageThatDoesNotRespondEndsTheSave() throws Exception {
    Semaphore never = new Semaphore(0);
    CheckpointStorage stuck =
        new ForwardingStorage(storage()) {
          @Override
          public OutputStream create(String file) throws IOException {
            try {
              if (file.contains("stream4") && !never.tryAcquire(1, TimeUnit.MINUTES)) {
                throw new IOException("the test has ended");
              }
              return super.create(file);
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    List<Object> outcomes =
        SavingRanks.outcomes(
            1,
            stuck,
            SavingRanks.options().saveTimeout(Duration.ofMillis(300)),
            (checkpoints, rank) -> {
              SavingRanks.save(checkpoints, rank, 1);
              return null;
            });
    SavingRanks.assertFailed(outcomes, "did not write all chunks within PT0.3S: raise saveTimeout");
  }

  @Test
  void aMissingDirectoryIsFoundWhenTheCheckpointsAreOpened() throws Exception {
    Path missing = folder.resolve("mount/checkpoints");
    String message = "no checkpoint was saved to " + missing + ": no such file or directory: ";
    for (Saving saving : Saving.values()) {
      CheckpointOptions options = SavingRanks.options().saving(saving);
      SavingRanks.assertFailed(
          SavingRanks.outcomes(
              2, CheckpointStorage.local(missing), options, (checkpoints, rank) -> 1),
          message + missing.getParent());
      assertThat(
              SavingRanks.values(
                  2,
                  CheckpointStorage.local(missing),
                  options.onFailure(SaveFailure.REPORT),
                  (checkpoints, rank) -> {
                    assertThat(checkpoints.lastFailure().orElseThrow())
                        .hasMessageContaining(message);
                    return checkpoints.latest().isEmpty();
                  }))
          .containsOnly(true);
    }
  }
}

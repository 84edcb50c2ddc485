// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.ddstore.contract.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are killed at random steps of a save leave the checkpoint before it readable. */
@Tag("system")
@Timeout(300)
@Tag("always")
class KilledWriterTest {
  private static final int RANKS = 2;
  private static final int MOST_STEPS = 400; // about six checkpoints
  private static final String HERE = "at the step";

  @TempDir Path folder;

  @Test
  void tenKilledWritersLeaveTheLastCheckpoint() throws Exception {
    kill(10);
  }

  @Test
  @Tag("slow")
  void fiftyKilledWritersLeaveTheLastCheckpoint() throws Exception {
    kill(50);
  }

  private void kill(int times) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Path directory = folder.resolve("checkpoints");
    long saved = 0;
    for (int i = 0; i < times; i++) {
      int steps = random.nextInt(MOST_STEPS);
      long published = killAfter(steps, directory);
      long latest = latest(directory);
      assertThat(latest)
          .as("seed %d, killed after %d steps, %d published", seed, steps, published)
          .isGreaterThanOrEqualTo(Math.max(saved, published));
      System.out.printf("killed after %d steps, at checkpoint %d%n", steps, latest);
      saved = latest;
    }
    assertThat(saved).as("checkpoints of all writers, seed %d", seed).isPositive();
    afterwardsNothingElseIsLeft(directory, saved);
  }

  private static long latest(Path directory) throws Exception {
    return SavingRanks.values(
            1,
            CheckpointStorage.local(directory),
            SavingRanks.options(),
            (checkpoints, rank) -> {
              var latest = checkpoints.latest();
              for (long number : checkpoints.numbers()) {
                if (latest.isPresent() && number == latest.get().number() - 1) {
                  SavingRanks.check(checkpoints.open(number));
                }
              }
              return latest.isEmpty() ? 0L : SavingRanks.check(latest.get());
            })
        .get(0);
  }

  private static void afterwardsNothingElseIsLeft(Path directory, long saved) throws Exception {
    CheckpointStorage storage = CheckpointStorage.local(directory);
    SavingRanks.values(
        1,
        storage,
        SavingRanks.options().keep(1),
        (checkpoints, rank) -> {
          SavingRanks.save(checkpoints, rank, saved + 1);
          return null;
        });
    assertThat(storage.list("")).as("one manifest and one folder").hasSize(2);
  }

  private static long killAfter(int steps, Path directory) throws Exception {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.addAll(List.of(Child.class.getName(), directory.toString(), "" + steps));
    Process child =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    long published = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      while (!HERE.equals(line)) {
        assertThat(line).as("output of the child").isNotNull();
        published = Long.parseLong(line);
        line = lines.readLine();
      }
    } finally {
      child.destroyForcibly();
      assertThat(child.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
    return published;
  }

  static final class Child {
    public static void main(String[] arguments) throws Exception {
      StoppingStorage storage =
          new StoppingStorage(
              Path.of(arguments[0]),
              Integer.parseInt(arguments[1]),
              () -> {
                print(HERE);
                while (true) {
                  LockSupport.park();
                }
              });
      SavingRanks.values(RANKS, storage, SavingRanks.options().keep(2), Child::saveForever);
    }

    private static synchronized void print(Object line) {
      System.out.println(line);
      System.out.flush();
    }

    private static Void saveForever(Checkpoints checkpoints, int rank) throws IOException {
      long seed = checkpoints.latest().map(saved -> saved.state().batch()).orElse(0L);
      while (true) {
        seed++;
        SavingRanks.save(checkpoints, rank, seed);
        checkpoints.await();
        if (rank == 0) {
          print(seed);
        }
      }
    }
  }
}

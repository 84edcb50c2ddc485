// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.MountNamespace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is full, and one that is mounted read-only. */
@Tag("system")
@Timeout(120)
class SmallDiskTest {
  @TempDir Path folder;

  @Test
  void aFullDiskAndAReadOnlyOneEndTheSaveAndNotTheTraining() throws Exception {
    Files.createDirectories(folder.resolve("small"));
    Files.createDirectories(folder.resolve("readonly"));
    List<String> command =
        MountNamespace.of(folder, "size=1m \"$0/small\"", "ro,size=1m \"$0/readonly\"");
    command.addAll(ChildJvm.command());
    command.addAll(List.of(Child.class.getName(), folder.toString()));
    Path log = folder.resolve("log");
    Process child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
    String output = Files.readString(log, StandardCharsets.UTF_8);
    assertThat(child.exitValue()).as(output).isZero();
    assertThat(output).contains("all checked");
  }

  static final class Child {
    public static void main(String[] arguments) throws Exception {
      Path small = Path.of(arguments[0], "small", "checkpoints");
      Path readOnly = Path.of(arguments[0], "readonly", "checkpoints");
      full(small, SaveFailure.THROW);
      full(small, SaveFailure.REPORT);
      SavingRanks.assertNotSaved(CheckpointStorage.local(readOnly), "Read-only file system");
      System.out.println("all checked");
    }

    private static void full(Path directory, SaveFailure effect) throws Exception {
      CheckpointStorage storage = CheckpointStorage.local(directory);
      SavingRanks.assertFailed(
          SavingRanks.outcomes(
              2,
              storage,
              SavingRanks.options().onFailure(effect),
              (checkpoints, rank) -> {
                SavingRanks.save(checkpoints, rank, 1);
                checkpoints.await();
                checkpoints.save(
                    SavingRanks.state(2), "model", out -> out.write(new byte[2 << 20]));
                checkpoints.await();
                return checkpoints.lastFailure().orElseThrow();
              }),
          "No space left on device");
      SavingRanks.assertLatest(1, storage, 1);
      assertThat(directory.toFile().getUsableSpace()).as("given back").isGreaterThan(500_000);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.ddstore.checkpoint.CheckpointException;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.SavingRanks;
import org.ddstore.checkpoint.StorageContract;
import org.ddstore.spark.dump.FaultyFileSystem;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hadoop's file system of local files, with its checksum files. */
class HadoopStorageTest extends StorageContract {
  @TempDir java.nio.file.Path folder;

  private Path directory() {
    return new Path(folder.resolve("checkpoints").toUri());
  }

  @Override
  protected CheckpointStorage storage() {
    try {
      FileSystem files = FileSystem.getLocal(new Configuration());
      return new HadoopStorage(files, files.makeQualified(directory()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1000})
  void namesTheFailureThatTheStreamThrowsAgainWhenItIsClosed(long room) throws Exception {
    CheckpointStorage full =
        HadoopStorage.of(
            new Path(FaultyFileSystem.ROOT.resolve(directory().toUri().getPath())),
            FaultyFileSystem.settings(room, ""));
    assertThat(
            SavingRanks.outcomes(
                2,
                full,
                SavingRanks.options(),
                (checkpoints, rank) -> {
                  SavingRanks.save(checkpoints, rank, 1);
                  return null;
                }))
        .allSatisfy(
            outcome ->
                assertThat(outcome)
                    .isInstanceOf(CheckpointException.class)
                    .asString()
                    .contains("saved to " + full + ": ", "No space left on device")
                    .doesNotContain("FSError"));
  }

  @Test
  void refusesAFileThatHadoopFindsChanged() throws Exception {
    saveTwo();
    java.nio.file.Path chunk =
        folder.resolve("checkpoints").resolve(newest("stream4.rank0-000003"));
    byte[] bytes = Files.readAllBytes(chunk);
    bytes[7] ^= 1;
    Files.write(chunk, bytes);
    assertDamaged("stream4.rank0-000003 has changed: Checksum error");
  }

  @Test
  void readsFilesOfThisHostWithoutHadoop() throws Exception {
    CheckpointStorage local = HadoopStorage.of(directory(), new Configuration());
    assertThat(local)
        .isNotInstanceOf(HadoopStorage.class)
        .hasToString(folder.resolve("checkpoints").toString());
  }

  /** Each executor would write to another directory. */
  @Test
  void refusesARelativeLocalPath() {
    assertThatThrownBy(() -> HadoopStorage.of(new Path("digits/1"), new Configuration()))
        .isInstanceOf(RejectedArgumentException.class)
        .hasMessageStartingWith("directory of checkpoints \"digits/1\" is relative");
  }

  @Test
  void namesAPathThatNoFileSystemServes() {
    assertThatThrownBy(() -> HadoopStorage.of(new Path("unknown://host/path"), new Configuration()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("unknown");
  }

  @Test
  void namesAFileInPlaceOfTheDirectory() throws Exception {
    storage().check();
    Files.createFile(folder.resolve("checkpoints"));
    assertThatThrownBy(() -> storage().check())
        .isInstanceOf(NotDirectoryException.class)
        .hasMessageContaining(directory().toString());
  }
}

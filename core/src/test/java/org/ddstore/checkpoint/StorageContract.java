// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every storage of checkpoints does; a subclass provides an empty directory. */
@Timeout(120)
public abstract class StorageContract {
  /** Returns the storage of a directory that does not exist yet. */
  protected abstract CheckpointStorage storage();

  private static void write(OutputStream out, String text) throws IOException {
    try (out) {
      out.write(text.getBytes(UTF_8));
    }
  }

  private static String read(InputStream in) throws IOException {
    try (in) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  @Test
  void listsNothingInADirectoryThatDoesNotExist() throws Exception {
    assertThat(storage().list("")).isEmpty();
    assertThat(storage().list("folder")).isEmpty();
    storage().delete("folder");
    assertThatThrownBy(() -> storage().open("file")).isInstanceOf(IOException.class);
  }

  @Test
  void createsFilesAndTheFoldersAboveThem() throws Exception {
    write(storage().create("a/b/file"), "content");
    write(storage().create("a/empty"), "");
    storage().publish("manifest", "whole".getBytes(UTF_8));
    assertThat(read(storage().open("a/b/file"))).isEqualTo("content");
    assertThat(read(storage().open("manifest"))).isEqualTo("whole");
    assertThat(storage().list(""))
        .extracting(CheckpointStorage.Entry::name, CheckpointStorage.Entry::folder)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("a", true),
            org.assertj.core.groups.Tuple.tuple("manifest", false));
    assertThat(storage().list("a/b"))
        .containsExactly(new CheckpointStorage.Entry("file", 7, false));
    assertThat(storage().list("a"))
        .contains(new CheckpointStorage.Entry("empty", 0, false))
        .hasSize(2);
  }

  @Test
  void replacesNoFile() throws Exception {
    write(storage().create("file"), "first");
    assertThatThrownBy(() -> storage().create("file")).isInstanceOf(IOException.class);
    assertThat(read(storage().open("file"))).isEqualTo("first");
  }

  @Test
  void deletesFilesAndFolders() throws Exception {
    write(storage().create("a/b/file"), "content");
    write(storage().create("a/c/file"), "content");
    storage().delete("a/b");
    storage().delete("a/b");
    assertThat(storage().list("a")).extracting(CheckpointStorage.Entry::name).containsExactly("c");
    storage().delete("a/c/file");
    assertThat(storage().list("a/c")).isEmpty();
  }

  @Test
  void checkpointsAreReadByAnotherNumberOfRanks() throws Exception {
    for (Saving saving : Saving.values()) {
      List<Long> numbers =
          SavingRanks.values(
                  2,
                  storage(),
                  SavingRanks.options().saving(saving).keep(2),
                  (checkpoints, rank) -> {
                    for (int seed = 1; seed <= 3; seed++) {
                      SavingRanks.save(checkpoints, rank, seed);
                    }
                    checkpoints.await();
                    SavingRanks.check(checkpoints.latest().orElseThrow());
                    return checkpoints.numbers();
                  })
              .get(0);
      assertThat(numbers).hasSize(2);
      assertThat(
              SavingRanks.values(
                  3,
                  storage(),
                  SavingRanks.options(),
                  (checkpoints, rank) ->
                      List.of(
                          SavingRanks.check(checkpoints.latest().orElseThrow()),
                          SavingRanks.check(checkpoints.open(numbers.get(0))))))
          .containsOnly(List.of(3L, 2L));
    }
    assertThat(storage().list(""))
        .as("manifests and folders of the last two checkpoints, which one writer saved")
        .hasSize(3);
  }
}

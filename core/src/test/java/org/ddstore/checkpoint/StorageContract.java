// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The contract of every storage of checkpoints; a subclass provides an empty directory. */
@Timeout(120)
@Tag("always")
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

  @Test
  void aWriterThatAnotherHasReplacedPublishesNothing() throws Exception {
    CheckpointStorage storage = storage();
    SavingRanks.values(
        1,
        storage,
        SavingRanks.options().saving(Saving.SYNCHRONOUS),
        (old, rank) -> {
          SavingRanks.save(old, rank, 1);
          SavingRanks.save(old, rank, 2);
          try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
              Checkpoints next = Checkpoints.open(storage, alone, SavingRanks.options().keep(2))) {
            SavingRanks.save(next, rank, 3);
            next.await();
            assertThatThrownBy(() -> SavingRanks.save(old, rank, 4))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("has taken over " + storage);
            assertThat(SavingRanks.check(next.latest().orElseThrow())).isEqualTo(3);
            assertThat(next.numbers()).containsExactly(2L, 3L);
          }
          return null;
        });
  }

  /** Saves the checkpoints 1 and 2 by one rank. */
  protected final void saveTwo() throws Exception {
    SavingRanks.values(
        1,
        storage(),
        SavingRanks.options(),
        (checkpoints, rank) -> {
          SavingRanks.save(checkpoints, rank, 1);
          SavingRanks.save(checkpoints, rank, 2);
          return null;
        });
  }

  /** Returns the path of the newest file whose path contains a text. */
  protected final String newest(String text) throws IOException {
    return files("").filter(path -> path.contains(text)).max(String::compareTo).orElseThrow();
  }

  private Stream<String> files(String folder) throws IOException {
    List<String> files = new ArrayList<>();
    for (CheckpointStorage.Entry entry : storage().list(folder)) {
      String path = folder.isEmpty() ? entry.name() : folder + "/" + entry.name();
      if (entry.folder()) {
        files(path).forEach(files::add);
      } else {
        files.add(path);
      }
    }
    return files.stream();
  }

  private byte[] content(String file) throws IOException {
    try (InputStream in = storage().open(file)) {
      return in.readAllBytes();
    }
  }

  private void replace(String file, byte[] content) throws IOException {
    storage().delete(file);
    try (OutputStream out = storage().create(file)) {
      out.write(content);
    }
  }

  /** Checks that readers refuse a checkpoint while a file has another content. */
  private void assertRefused(String file, UnaryOperator<byte[]> change, String message)
      throws Exception {
    byte[] content = content(file);
    replace(file, change.apply(content.clone()));
    assertRefused(message);
    replace(file, content);
  }

  /** Checks that readers refuse the newest checkpoint with a remedy, and open the first one. */
  private void assertRefused(String message) throws Exception {
    String remedy = message.contains("manifest") ? "it" : newest("checkpoint-");
    SavingRanks.values(
        2,
        storage(),
        SavingRanks.options(),
        (checkpoints, rank) -> {
          assertThatThrownBy(() -> checkpoints.latest().orElseThrow().bytes("stream4.rank0"))
              .isInstanceOf(CorruptCheckpointException.class)
              .hasMessageContaining(message)
              .hasMessageContaining(
                  "delete %s to continue with the checkpoint before it".formatted(remedy));
          assertThat(checkpoints.open(1).number()).isEqualTo(1);
          return null;
        });
  }

  private long latest() throws Exception {
    return SavingRanks.values(
            1,
            storage(),
            SavingRanks.options(),
            (checkpoints, rank) -> SavingRanks.check(checkpoints.latest().orElseThrow()))
        .get(0);
  }

  /**
   * Checks that readers refuse the newest checkpoint, and applies the remedy.
   *
   * @param message part of the message
   */
  protected final void assertDamaged(String message) throws Exception {
    assertRefused(message);
    storage().delete(newest("checkpoint-"));
    assertThat(latest()).isEqualTo(1);
  }

  @Test
  void refusesFilesThatHaveChanged() throws Exception {
    saveTwo();
    String chunk = newest("stream4.rank0-000003");
    for (int position : new int[] {0, 1, 4095}) {
      assertRefused(
          chunk,
          bytes -> {
            bytes[position] ^= 1;
            return bytes;
          },
          "stream4.rank0-000003 has the checksum ");
    }
    assertRefused(
        chunk,
        bytes -> Arrays.copyOf(bytes, 100),
        "stream4.rank0-000003 has 100 bytes, expected 4,096");
    assertRefused(
        newest("stream1.rank0-000000"),
        bytes -> Arrays.copyOf(bytes, 2),
        "stream1.rank0-000000 has 2 bytes, expected 1");
    String manifest = newest("checkpoint-");
    assertRefused(
        manifest,
        bytes -> "PK model of another library".getBytes(UTF_8),
        "is not a manifest of a checkpoint: it does not begin with");
    assertRefused(
        manifest,
        bytes -> new String(bytes, UTF_8).replace("ranks 1", "ranks 2").getBytes(UTF_8),
        "is not a manifest of a checkpoint: its checksum does not match its content");
    assertThat(latest()).isEqualTo(2);
    storage().delete(newest("stream2.rank0-000000"));
    assertDamaged("is missing");
  }
}

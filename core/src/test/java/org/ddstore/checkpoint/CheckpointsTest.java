// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class CheckpointsTest {
  @TempDir Path folder;

  private CheckpointStorage storage() {
    return CheckpointStorage.local(folder.resolve("checkpoints"));
  }

  private Set<String> names(String in) throws IOException {
    Set<String> names = new TreeSet<>();
    storage().list(in).forEach(entry -> names.add(entry.name()));
    return names;
  }

  @Test
  void anEmptyDirectoryHasNoCheckpoint() throws Exception {
    assertThat(
            SavingRanks.values(
                2,
                storage(),
                CheckpointOptions.defaults(),
                (checkpoints, rank) -> {
                  assertThatThrownBy(() -> checkpoints.open(3))
                      .isInstanceOf(RejectedArgumentException.class)
                      .hasMessage("no checkpoint 3 in %s: the numbers are []".formatted(storage()));
                  return checkpoints.latest().isEmpty() && checkpoints.numbers().isEmpty();
                }))
        .containsOnly(true);
    assertThat(folder).as("reading creates nothing").isEmptyDirectory();
  }

  @Test
  void savesAModelThatRankZeroWrites() throws Exception {
    byte[] model = SavingRanks.content(1, 0, 4);
    assertThat(
            SavingRanks.values(
                3,
                storage(),
                SavingRanks.options(),
                (checkpoints, rank) -> {
                  checkpoints.save(
                      SavingRanks.state(5),
                      "model",
                      out -> {
                        assertThat(rank).isZero();
                        out.write(model);
                      });
                  checkpoints.await();
                  Checkpoint saved = checkpoints.latest().orElseThrow();
                  assertThat(saved.streams()).containsExactly("model");
                  assertThat(saved.ranks()).isEqualTo(3);
                  assertThatThrownBy(() -> saved.reader("optimizer"))
                      .isInstanceOf(RejectedArgumentException.class)
                      .hasMessage(
                          "checkpoint 1 in %s has no stream \"optimizer\": it has [model]"
                              .formatted(storage()));
                  return saved.bytes("model");
                }))
        .containsOnly(model);
  }

  @ParameterizedTest
  @EnumSource
  void laterWritersContinueTheNumbersAndDeleteWhatKilledWritersLeft(Saving saving)
      throws Exception {
    CheckpointOptions options = SavingRanks.options().saving(saving).keep(1);
    for (int seed = 1; seed <= 3; seed++) {
      long number = seed;
      SavingRanks.values(
          2,
          storage(),
          options,
          (checkpoints, rank) -> {
            SavingRanks.save(checkpoints, rank, number);
            return null;
          });
      assertThat(names("")).hasSize(2); // manifest and chunks
      try (var chunk = storage().create("data-%06d-00000000/0000000009/r".formatted(seed))) {
        chunk.write(1); // of a writer that never published
      }
      try (var prefix = storage().create("checkpoint-%06d-0000000f-0000000009".formatted(seed))) {
        prefix.write("ddstore-check".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      }
      storage().create(".checkpoint-%06d-0000000f-0000000009.tmp".formatted(seed)).close();
      assertThat(
              SavingRanks.values(
                  1,
                  storage(),
                  options,
                  (checkpoints, rank) -> {
                    Checkpoint latest = checkpoints.latest().orElseThrow();
                    assertThat(latest.number()).isEqualTo(number == 1 ? 1 : 9 + number - 1);
                    return SavingRanks.check(latest);
                  }))
          .containsExactly(number);
    }
  }

  @Test
  void rejectsWhatRanksDoNotAgreeOn() throws Exception {
    List<Object> outcomes =
        SavingRanks.outcomes(
            2,
            storage(),
            SavingRanks.options().saving(Saving.SYNCHRONOUS),
            (checkpoints, rank) -> {
              assertThatThrownBy(() -> checkpoints.save(SavingRanks.state(7 + rank), to -> {}))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("rank 1 is at {")
                  .hasMessageEndingWith("save after the same batch on all ranks");
              assertThatThrownBy(
                      () -> checkpoints.save(SavingRanks.state(7), to -> to.writer("same").close()))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("ranks 0 and 1 write the stream \"same\"");
              SavingRanks.save(checkpoints, rank, 7);
              return SavingRanks.check(checkpoints.latest().orElseThrow());
            });
    assertThat(outcomes).containsExactly(7L, 7L);
  }

  @ParameterizedTest
  @EnumSource
  void anErrorOfOneBodyReachesAllRanks(Saving saving) throws Exception {
    List<Object> outcomes =
        SavingRanks.outcomes(
            2,
            storage(),
            SavingRanks.options().saving(saving).onFailure(SaveFailure.REPORT),
            (checkpoints, rank) -> {
              SavingRanks.save(checkpoints, rank, 1);
              checkpoints.save(
                  SavingRanks.state(2),
                  to -> {
                    if (rank == 1) {
                      to.writer("open").write(new byte[10_000]);
                      throw new IllegalStateException("no model");
                    }
                  });
              checkpoints.await();
              return null;
            });
    assertThat(outcomes.get(0))
        .isInstanceOf(RankFailedException.class)
        .asString()
        .contains("the body of rank 1 failed: java.lang.IllegalStateException: no model");
    assertThat(outcomes.get(1)).isInstanceOf(IllegalStateException.class);
    SavingRanks.assertLatest(1, storage(), 1);
  }

  @Test
  void rejectsStreamsThatAreNotClosedOrHaveNoProperName() throws Exception {
    SavingRanks.values(
        1,
        storage(),
        SavingRanks.options().saving(Saving.SYNCHRONOUS),
        (checkpoints, rank) -> {
          assertRejected(checkpoints, to -> to.writer("a/b"), "stream name \"a/b\" does not match");
          assertRejected(checkpoints, to -> to.writer("a"), "stream \"a\" is still open: close it");
          assertRejected(
              checkpoints,
              to -> {
                to.writer("a").close();
                to.writer("a");
              },
              "stream \"a\" was written before");
          assertThatThrownBy(
                  () ->
                      checkpoints.save(
                          SavingRanks.state(1),
                          to -> {
                            throw new IOException("disk of the user");
                          }))
              .isInstanceOf(UncheckedIOException.class)
              .hasMessageContaining("the body failed: disk of the user");
          assertThat(checkpoints.numbers()).isEmpty();
          return null;
        });
  }

  private static void assertRejected(Checkpoints checkpoints, CheckpointBody body, String message) {
    assertThatThrownBy(() -> checkpoints.save(SavingRanks.state(1), body))
        .isInstanceOfAny(IllegalArgumentException.class, IllegalStateException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aReaderThatFailsOnOneRankEndsTheLoadOnAll() throws Exception {
    List<Object> outcomes =
        SavingRanks.outcomes(
            2,
            storage(),
            SavingRanks.options(),
            (checkpoints, rank) -> {
              SavingRanks.save(checkpoints, rank, 1);
              checkpoints
                  .latest()
                  .orElseThrow()
                  .load(
                      "stream4.rank1",
                      in -> {
                        if (rank == 1) {
                          throw new IOException("not a model");
                        }
                        in.readAllBytes();
                      });
              return null;
            });
    assertThat(outcomes.get(0)).isInstanceOf(RankFailedException.class);
    assertThat(outcomes.get(1))
        .isInstanceOf(UncheckedIOException.class)
        .asString()
        .endsWith("checkpoints, stream \"stream4.rank1\": not a model");
  }

  @Test
  void useAfterCloseIsRejected() throws Exception {
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0)) {
      Checkpoints checkpoints = Checkpoints.open(storage(), alone, SavingRanks.options());
      SavingRanks.save(checkpoints, 0, 1);
      Checkpoint saved = checkpoints.latest().orElseThrow();
      checkpoints.close();
      checkpoints.close();
      assertThat(checkpoints.isClosed()).isTrue();
      assertThatThrownBy(checkpoints::latest).hasMessageStartingWith("closed: ");
      assertThatThrownBy(() -> SavingRanks.save(checkpoints, 0, 2))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: Checkpoints[");
      assertThatThrownBy(() -> saved.bytes("stream0.rank0")).hasMessageStartingWith("closed: ");
      alone.barrier();
    }
  }

  @Test
  void optionsNameTheirRanges() {
    CheckpointOptions options = CheckpointOptions.defaults();
    assertThatThrownBy(() -> options.keep(0)).hasMessageStartingWith("keep 0 outside [1, ");
    assertThatThrownBy(() -> options.chunkSize(100))
        .hasMessageStartingWith("chunkSize 100 outside");
    assertThatThrownBy(() -> options.writers(65)).hasMessage("writers 65 outside [1, 64]");
    assertThatThrownBy(() -> options.memoryLimit(0))
        .hasMessageStartingWith("memoryLimit 0 outside");
    assertThatThrownBy(() -> options.saveTimeout(Duration.ZERO))
        .hasMessageStartingWith("saveTimeout PT0S outside");
  }

  @Test
  void aDirectoryInPlaceOfAManifestIsNamed() throws Exception {
    CheckpointOptions options = SavingRanks.options().saving(Saving.SYNCHRONOUS);
    String name = "checkpoint-000009-0000000f-0000000009";
    assertThat(
            SavingRanks.values(
                2,
                storage(),
                options,
                (checkpoints, rank) -> {
                  SavingRanks.save(checkpoints, rank, 1);
                  if (rank == 0) {
                    storage().create(name + "/file").close();
                  }
                  checkpoints.numbers();
                  assertThatThrownBy(checkpoints::latest)
                      .isInstanceOf(CorruptCheckpointException.class)
                      .hasMessageContaining(name + " in " + storage() + " is a directory");
                  return checkpoints.open(1).number();
                }))
        .containsOnly(1L);
  }
}

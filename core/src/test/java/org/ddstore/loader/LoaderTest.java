// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.EpochBatches;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs: the right rows in the right order, from anywhere. */
@Timeout(120)
class LoaderTest extends OnSamples {
  private Loader open(BatchSampler sampler, WorldRank place, LoaderOptions options) {
    return Loader.open(samples.rows(), sampler, place, options);
  }

  private static List<Object> content(LoadedBatch batch) {
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < batch.rows(); i++) {
      assertThat(batch.field("id").getLong(i)).isEqualTo(batch.row(i));
    }
    for (String field : List.of("id", "image", "value", "points", "columns", "values")) {
      all.add(hex(batch.field(field)));
    }
    all.add(hex(batch.offsets("points")));
    all.add(hex(batch.weights()));
    return all;
  }

  private static String hex(Tensor tensor) {
    return tensor + java.util.HexFormat.of().formatHex(tensor.toByteArray());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void deliversTheBatchesOfTheSamplerInOrder(int workers) {
    LoaderOptions options = LoaderOptions.defaults().workers(workers);
    BatchSampler sampler = Samplers.shuffled(42).batchSize(10).evaluation();
    for (int rank = 0; rank < 3; rank++) {
      WorldRank place = new WorldRank(rank, 3);
      try (Loader loader = open(sampler, place, options)) {
        for (int epoch = 0; epoch < 3; epoch++) {
          EpochBatches expected = sampler.epoch(Samples.ROWS, place, epoch);
          long[] room = new long[10];
          long number = 0;
          for (LoadedBatch batch : loader.epoch(epoch)) {
            expected.fill(number, room);
            assertThat(IntStream.range(0, 10).mapToLong(batch::sample).toArray()).isEqualTo(room);
            assertThat(batch.number()).isEqualTo(number);
            assertThat(batch.epoch()).isEqualTo(epoch);
            assertThat(batch.padding()).isEqualTo(expected.padding(number));
            assertThat(batch.share()).isEqualTo(expected.share(number));
            float[] weights = batch.weights().toFloatArray();
            for (int i = 0; i < 10; i++) {
              int row = (int) room[i];
              assertThat(weights[i]).isEqualTo(i < 10 - batch.padding() ? 1 : 0);
              assertThat(batch.field("value").getFloat(4L * i)).isEqualTo(row);
              assertThat(imageOf(batch, i)).isEqualTo(Samples.image(row));
            }
            number++;
          }
          assertThat(number).isEqualTo(expected.batches()).isEqualTo(7);
        }
      }
    }
  }

  private static byte[] imageOf(LoadedBatch batch, int i) {
    byte[] all = batch.field("image").toByteArray();
    return Arrays.copyOfRange(all, 90 * i, 90 * (i + 1));
  }

  @Test
  void resumesAtEveryBatchBoundaryWithTheSameBytes() {
    for (BatchSampler sampler :
        List.of(
            Samplers.shuffled(5).globalBatchSize(24),
            Samplers.chunked(5, 8, 3).globalBatchSize(24).everySample(),
            Samplers.shuffled(5).globalBatchSize(24).evaluation())) {
      List<List<Object>> whole = new ArrayList<>();
      List<String> states = new ArrayList<>();
      try (Loader loader = open(sampler, ALONE, LoaderOptions.defaults())) {
        states.add(loader.state().toJson());
        for (LoadedBatch batch : loader.epoch(0)) {
          whole.add(content(batch));
          states.add(loader.state().toJson());
        }
      }
      for (int from = 0; from < states.size(); from++) {
        EpochState state = EpochState.parse(states.get(from));
        assertThat(state.batch()).isEqualTo(from);
        try (Loader loader = open(sampler, ALONE, LoaderOptions.defaults())) {
          List<List<Object>> rest = new ArrayList<>();
          for (LoadedBatch batch : loader.resume(state)) {
            rest.add(content(batch));
          }
          assertThat(rest).isEqualTo(whole.subList(from, whole.size()));
        }
      }
    }
  }

  @Test
  void resumesOnAnyNumberOfRanksWithTheSameGlobalBatches() {
    BatchSampler sampler = Samplers.shuffled(5).globalBatchSize(24);
    List<List<Long>> whole = globalBatches(sampler, 1, null);
    for (int from = 0; from <= whole.size(); from++) {
      EpochState state;
      try (Loader loader = open(sampler, ALONE, LoaderOptions.defaults())) {
        EpochLoop loop = loader.epoch(1);
        for (int i = 0; i < from; i++) {
          loop.next();
        }
        state = loader.state();
      }
      for (int world : new int[] {1, 2, 3, 4, 8}) {
        assertThat(globalBatches(sampler, world, state))
            .isEqualTo(whole.subList(from, whole.size()));
      }
    }
  }

  private List<List<Long>> globalBatches(BatchSampler sampler, int world, EpochState state) {
    List<List<Long>> global = new ArrayList<>();
    for (int rank = 0; rank < world; rank++) {
      try (Loader loader = open(sampler, new WorldRank(rank, world), LoaderOptions.defaults())) {
        int number = 0;
        for (LoadedBatch batch : state == null ? loader.epoch(1) : loader.resume(state)) {
          if (rank == 0) {
            global.add(new ArrayList<>());
          }
          for (int i = 0; i < batch.rows(); i++) {
            global.get(number).add(batch.field("id").getLong(i));
          }
          number++;
        }
      }
    }
    return global;
  }

  @Test
  void rejectsADigestThatIsNotHexadecimal() {
    for (String digest : List.of("", "imagenet", "AB")) {
      assertThatThrownBy(() -> LoaderOptions.defaults().digest(digest))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("digest \"%s\" is not hexadecimal: use the value of DDStore.digest", digest);
    }
  }

  @Test
  void rejectsAStateOfOtherRowsOrDigest() {
    BatchSampler sampler = Samplers.shuffled(5).globalBatchSize(24);
    try (Loader loader = open(sampler, ALONE, LoaderOptions.defaults().digest("aa"))) {
      EpochState here = loader.state();
      assertThatThrownBy(
              () ->
                  loader.resume(
                      new EpochState(
                          0, 0, 7, 0, here.sampling(), here.schema(), "bb", Delivery.PLAIN)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "state mismatch: number of rows is 7 in the state, 203 here:"
                  + " load the rows that the state was saved with, or begin without the state;"
                  + " digest of the rows is bb in the state, aa here");
      EpochState late =
          new EpochState(2, 9, 203, 0, here.sampling(), here.schema(), "aa", Delivery.PLAIN);
      assertThatThrownBy(() -> loader.resume(late))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("batch 9 of epoch 2 outside [0, 8]");
      assertThat(here.toJson().length()).as("%s", here.toJson()).isLessThan(95);
    }
  }

  /** Its order is one of these rows, and of no others. */
  @Test
  void stateRecordsTheRowCountAtTheStartOfItsEpoch() {
    BatchSampler sampler = Samplers.shuffled(5).globalBatchSize(24);
    try (Loader loader = open(sampler, ALONE, LoaderOptions.defaults())) {
      EpochLoop loop = loader.epoch(0);
      loop.next();
      ShardWriter more = ShardWriter.create(samples.rows().schema(), StoreOptions.defaults());
      more.append(
          203L,
          Samples.image(203),
          Samples.value(203),
          Samples.points(203),
          Samples.columns(203),
          Samples.values(203));
      samples.store().append("rows", more);
      EpochState within = loader.state();
      assertThat(within.rows()).isEqualTo(203);
      assertThatThrownBy(() -> loader.resume(within))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith(
              "state mismatch: number of rows is 203 in the state, 204 here: load");
      assertThat(loop.remaining()).as("goes on").isEqualTo(7);
      loader.epoch(1).next();
      assertThat(loader.state().rows()).isEqualTo(204);
    }
  }

  @Test
  void rejectsAStateOfOtherOptionsAndNamesThem() {
    BatchSampler sampler = Samplers.shuffled(5).globalBatchSize(24);
    LoaderOptions all = LoaderOptions.defaults();
    LoaderOptions cast = all.cast("image", DType.FLOAT32, 1 / 255.0);
    String fields = "choice of fields";
    String casts = "choice of casts";
    String shapes = "choice of padding and densifying";
    assertResume(sampler, all, all);
    assertResume(sampler, all, all.fields("values", "columns", "points", "value", "image", "id"));
    assertResume(sampler, all.fields("value", "id"), all.fields("id", "value"));
    assertResume(
        sampler, cast, all.cast("image", DType.BFLOAT16).cast("image", DType.FLOAT32, 1 / 255.0));
    assertResume(sampler, all, all.transform(batch -> {}).depth(2).workers(3));
    assertResume(sampler, all, all.fields("id"), fields);
    assertResume(sampler, all.fields("id"), all.fields("value"), fields);
    assertResume(sampler, all, cast, casts);
    assertResume(sampler, cast, all.cast("image", DType.FLOAT32), casts);
    assertResume(sampler, cast, all.cast("image", DType.BFLOAT16, 1 / 255.0), casts);
    assertResume(sampler, cast, all.cast("value", DType.FLOAT32, 1 / 255.0), casts);
    assertResume(sampler, all, all.pad("points", 0), shapes);
    assertResume(sampler, all.pad("points", 8), all.pad("points", 9), shapes);
    assertResume(sampler, all.densify("values", "columns", 20), all, shapes);
    assertResume(sampler, cast.fields("id", "image"), all.pad("points", 0), fields, casts, shapes);
  }

  private void assertResume(
      BatchSampler sampler, LoaderOptions saved, LoaderOptions here, String... different) {
    EpochState state;
    try (Loader loader = open(sampler, ALONE, saved)) {
      loader.epoch(1).next();
      state = EpochState.parse(loader.state().toJson());
    }
    try (Loader loader = open(sampler, ALONE, here)) {
      if (different.length == 0) {
        assertThat(loader.resume(state).next().number()).isEqualTo(1);
        return;
      }
      String choice =
          "choice of [a-z ]+ is \\S+ in the state, (all|none|\\[[^]]+\\] \\(\\S{4}\\)) here;?";
      assertThatThrownBy(() -> loader.resume(state))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("state mismatch:( %s){%d}".formatted(choice, different.length))
          .hasMessageContainingAll(different);
    }
  }

  @Test
  void newEpochEndsThePreviousOne() {
    try (Loader loader =
        open(Samplers.sequential().batchSize(10), ALONE, LoaderOptions.defaults())) {
      EpochLoop first = loader.epoch(0);
      assertThat(first.next().row(0)).isZero();
      EpochLoop second = loader.epoch(1);
      assertThatThrownBy(first::next)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("this epoch ended when another was begun on its loader");
      assertThat(second.remaining()).isEqualTo(20);
      List<Long> firstRows = new ArrayList<>();
      for (LoadedBatch batch : second) {
        firstRows.add(batch.row(0));
      }
      assertThat(firstRows).hasSize(20).startsWith(3L, 13L); // three rows are dropped in epoch 0
      assertThatThrownBy(second::next).isInstanceOf(NoSuchElementException.class);
      assertThat(loader.utilisation()).isBetween(0.0, 1.0);
    }
  }

  @Test
  void fieldsCanBeChosen() {
    LoaderOptions options = LoaderOptions.defaults().fields("value", "points");
    try (Loader loader = open(Samplers.sequential().batchSize(10), ALONE, options)) {
      LoadedBatch batch = loader.epoch(0).next();
      assertThat(batch.field("value").shape()).containsExactly(10, 4);
      assertThatThrownBy(() -> batch.field("id")).isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(
            () ->
                open(
                        Samplers.sequential().batchSize(1),
                        ALONE,
                        LoaderOptions.defaults().fields("nothing"))
                    .epoch(0)
                    .next())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no field \"nothing\"");
  }

  @Test
  void tensorsOfThePreviousBatchRefuseReads() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .cast("value", DType.BFLOAT16)
            .pad("points", 0)
            .transform(batch -> batch.allocate("own", DType.INT64, 1));
    try (Loader loader = open(Samplers.sequential().batchSize(10), ALONE, options)) {
      EpochLoop loop = loader.epoch(0);
      LoadedBatch first = loop.next();
      List<Tensor> tensors = new ArrayList<>(List.of(first.weights(), first.offsets("columns")));
      for (String name : List.of("id", "image", "value", "points", "columns", "own")) {
        tensors.add(first.field(name));
      }
      for (Tensor tensor : tensors) {
        assertThat(tensor.toByteArray()).isNotEmpty();
      }
      assertThat(loop.next().field("id").getLong(0)).isEqualTo(10);
      String closed = "closed: LoadedBatch[epoch 0, number 0, 10 samples]";
      for (Tensor tensor : tensors) {
        assertThatThrownBy(tensor::toByteArray)
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(closed);
        assertThatThrownBy(tensor::asByteBuffer).hasMessage(closed);
        assertThat(tensor.shape()).isNotEmpty();
      }
      assertThatThrownBy(() -> tensors.get(0).getFloat(0)).hasMessage(closed);
      assertThatThrownBy(() -> tensors.get(1).getLong(0)).hasMessage(closed);
    }
  }

  @Test
  void rejectsUseAfterClose() {
    Loader loader = open(Samplers.sequential().batchSize(10), ALONE, LoaderOptions.defaults());
    LoadedBatch batch = loader.epoch(0).next();
    loader.close();
    loader.close();
    assertThatThrownBy(() -> batch.field("id"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: LoadedBatch[epoch 0, number 0, 10 samples]");
    assertThatThrownBy(() -> loader.epoch(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> loader.pop(java.time.Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("closed: ");
  }
}

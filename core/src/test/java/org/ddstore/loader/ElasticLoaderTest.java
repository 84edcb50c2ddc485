// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An epoch that is begun by one rank and gone on with by any number, whatever its tail is. */
@Timeout(120)
class ElasticLoaderTest extends OnSamples {
  private static final int EPOCH = 1;
  private static final int GLOBAL = 24;
  private static final int[] WORLDS = {1, 2, 3, 4, 8};
  private static final double SCALE = 1 / 255.0;
  private static final LoaderOptions OPTIONS = LoaderOptions.defaults().depth(2);
  private static final long[] COSTS =
      LongStream.range(0, Samples.ROWS).map(row -> 1 + row % 5).toArray();

  /**
   * The samples that a rank was given.
   *
   * @param batches the samples of each that are not padding, as hexadecimal digits of all fields
   * @param states behind each
   */
  private record Part(List<List<String>> batches, List<String> states, CoverageReceipt receipt) {}

  /**
   * A way to choose samples and to give them out.
   *
   * @param samples that an epoch gives out or drops
   */
  private record Way(BatchSampler sampler, LoaderOptions options, long samples) {
    static Way of(BatchSampler sampler) {
      return new Way(sampler, OPTIONS, sampler.space().samples(Samples.ROWS));
    }
  }

  static Stream<Way> ways() {
    Sampler shuffled = Samplers.shuffled(5);
    Sampler crops = Samplers.randomCrops(7, shuffled, Samples.IMAGE, 3, 4);
    return Stream.of(
        Way.of(shuffled.globalBatchSize(GLOBAL)),
        Way.of(shuffled.globalBatchSize(GLOBAL).everySample()),
        Way.of(shuffled.globalBatchSize(GLOBAL).evaluation()),
        Way.of(Samplers.chunked(5, 8, 3).globalBatchSize(GLOBAL).everySample()),
        Way.of(Samplers.chunked(5, 8, 3).globalBatchSize(GLOBAL).evaluation()),
        Way.of(crops.globalBatchSize(GLOBAL)),
        Way.of(crops.globalBatchSize(GLOBAL).everySample()),
        Way.of(crops.globalBatchSize(GLOBAL).evaluation()),
        Way.of(Samplers.tiles(shuffled, Samples.IMAGE, 4, 3).globalBatchSize(100).everySample()),
        Way.of(Samplers.windows(3, 2, 4, shuffled).globalBatchSize(GLOBAL).everySample()),
        Way.of(Samplers.costAware(5, 12, COSTS).batchesPerStep(8)),
        new Way(
            shuffled.globalBatchSize(GLOBAL),
            OPTIONS.cast("image", DType.FLOAT32, SCALE),
            Samples.ROWS));
  }

  private static EpochState atBeginOf(long epoch, EpochState state) {
    return new EpochState(
        epoch,
        0,
        state.rows(),
        state.version(),
        state.sampling(),
        state.schema(),
        state.digest(),
        state.delivery());
  }

  @ParameterizedTest
  @MethodSource("ways")
  void resumesWithTheSameBytesAndAnExactReceipt(Way way) throws Exception {
    List<String> states = new ArrayList<>();
    List<List<String>> whole = new ArrayList<>();
    try (Loader loader = Loader.open(samples.rows(), way.sampler(), ALONE, way.options())) {
      states.add(atBeginOf(EPOCH, loader.state()).toJson());
      for (LoadedBatch batch : loader.epoch(EPOCH)) {
        whole.add(content(batch));
        states.add(loader.state().toJson());
      }
    }
    List<String> statesOfThree = new ArrayList<>(states.subList(0, 1));
    for (Part part : resume(way, EpochState.parse(states.get(0)), 3)) {
      assertThat(part.states()).as("saved on any of three ranks").isEqualTo(tail(states, 1));
      if (statesOfThree.size() == 1) {
        statesOfThree.addAll(part.states());
      }
    }
    for (int from = 0; from < states.size(); from++) {
      EpochState state = EpochState.parse(statesOfThree.get(from));
      assertThat(state.batch()).isEqualTo(from);
      for (int world : WORLDS) {
        List<Part> parts = resume(way, state, world);
        assertThat(joined(parts))
            .as("from batch %d on %d ranks", from, world)
            .isEqualTo(tail(whole, from));
        for (Part part : parts) {
          assertThat(part.states()).isEqualTo(tail(states, from + 1));
          assertThat(part.receipt().isExact()).as("%s", part.receipt()).isTrue();
          assertThat(part.receipt().delivered() + part.receipt().dropped())
              .as("%s", part.receipt())
              .isEqualTo(way.samples());
        }
      }
    }
  }

  private static <T> List<T> tail(List<T> all, int from) {
    return all.subList(from, all.size());
  }

  private static List<List<String>> joined(List<Part> parts) {
    List<List<String>> global = new ArrayList<>();
    for (int batch = 0; batch < parts.get(0).batches().size(); batch++) {
      List<String> all = new ArrayList<>();
      for (Part part : parts) {
        all.addAll(part.batches().get(batch));
      }
      global.add(all);
    }
    return global;
  }

  private List<Part> resume(Way way, EpochState state, int world) throws Exception {
    List<Communicator> group = LocalGroup.create(world, Duration.ofMinutes(1));
    ExecutorService threads = Executors.newFixedThreadPool(world);
    try {
      List<Future<Part>> running = new ArrayList<>();
      for (int rank = 0; rank < world; rank++) {
        int r = rank;
        running.add(
            threads.submit(() -> resume(way, state, new WorldRank(r, world), group.get(r))));
      }
      List<Part> parts = new ArrayList<>();
      for (Future<Part> part : running) {
        parts.add(part.get());
      }
      return parts;
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }
  }

  private Part resume(Way way, EpochState state, WorldRank place, Communicator communicator) {
    try (communicator;
        Loader loader = Loader.open(samples.rows(), way.sampler(), place, way.options())) {
      List<List<String>> batches = new ArrayList<>();
      List<String> states = new ArrayList<>();
      for (LoadedBatch batch : loader.resume(state)) {
        batches.add(content(batch));
        states.add(loader.state().toJson());
      }
      return new Part(batches, states, loader.receipt(communicator));
    }
  }

  private static List<String> content(LoadedBatch batch) {
    List<String> all = new ArrayList<>();
    int perSample = batch.samples() == 0 ? 1 : batch.rows() / batch.samples();
    for (int i = 0; i < batch.samples() - batch.padding(); i++) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int k = perSample * i; k < perSample * (i + 1); k++) {
        out.writeBytes(content(batch, k));
      }
      all.add(HexFormat.of().formatHex(out.toByteArray()));
    }
    float[] weights = batch.weights().toFloatArray();
    for (int i = 0; i < weights.length; i++) {
      assertThat(weights[i]).isEqualTo(i < all.size() ? 1 : 0);
    }
    return all;
  }

  private static byte[] content(LoadedBatch batch, int k) {
    int row = (int) batch.row(k);
    Tensor image = batch.field("image");
    byte[] pixels = rows(image, batch.rows(), k, k + 1);
    assertThat(pixels).satisfies(cut -> assertImage(image, cut, Samples.image(row)));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (String name : List.of("id", "value")) {
      out.writeBytes(rows(batch.field(name), batch.rows(), k, k + 1));
    }
    for (String name : List.of("points", "columns", "values")) {
      Tensor offsets = batch.offsets(name);
      Tensor values = batch.field(name);
      out.writeBytes(rows(values, values.rows(), offsets.getLong(k), offsets.getLong(k + 1L)));
    }
    assertThat(out.toByteArray()).isEqualTo(expected(row));
    out.writeBytes(pixels);
    return out.toByteArray();
  }

  private static void assertImage(Tensor images, byte[] pixels, byte[] whole) {
    if (images.dtype() == DType.FLOAT32) {
      ByteBuffer floats = ByteBuffer.wrap(pixels).order(ByteOrder.LITTLE_ENDIAN);
      for (byte pixel : whole) {
        assertThat(floats.getFloat()).isEqualTo((pixel & 0xFF) * (float) SCALE);
      }
      assertThat(floats.hasRemaining()).isFalse();
      return;
    }
    long[] shape = images.shape();
    int height = (int) shape[shape.length - 3];
    int width = (int) shape[shape.length - 2];
    List<byte[]> boxes = new ArrayList<>();
    for (int y = 0; y <= 6 - height; y++) {
      for (int x = 0; x <= 5 - width; x++) {
        ByteArrayOutputStream box = new ByteArrayOutputStream();
        for (int line = y; line < y + height; line++) {
          box.write(whole, (line * 5 + x) * 3, width * 3);
        }
        boxes.add(box.toByteArray());
      }
    }
    assertThat(boxes).contains(pixels);
  }

  private static byte[] rows(Tensor tensor, long rows, long from, long to) {
    int rowBytes = rows == 0 ? 0 : (int) (tensor.bytes() / rows);
    byte[] bytes = new byte[(int) (to - from) * rowBytes];
    tensor.asByteBuffer().get((int) from * rowBytes, bytes);
    return bytes;
  }

  private static byte[] expected(int row) {
    ByteBuffer out = ByteBuffer.allocate(1000).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(row);
    for (float value : Samples.value(row)) {
      out.putFloat(value);
    }
    for (float point : Samples.points(row)) {
      out.putFloat(point);
    }
    for (int column : Samples.columns(row)) {
      out.putInt(column);
    }
    for (double value : Samples.values(row)) {
      out.putDouble(value);
    }
    byte[] bytes = new byte[out.position()];
    out.get(0, bytes);
    return bytes;
  }
}

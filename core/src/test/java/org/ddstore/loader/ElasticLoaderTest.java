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
import java.util.stream.Stream;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An epoch that is begun by one rank and gone on with by any number, whatever its tail is. */
@Timeout(120)
class ElasticLoaderTest {
  private static final int EPOCH = 1;
  private static final int GLOBAL = 24;
  private static final int[] WORLDS = {1, 2, 3, 4, 8};

  private Samples samples;

  @BeforeEach
  void open() {
    samples = new Samples();
  }

  @AfterEach
  void close() throws Exception {
    samples.close();
  }

  /**
   * What a rank was given.
   *
   * @param batches the samples of each that are no padding, as hexadecimal digits of all fields
   */
  private record Part(List<List<String>> batches, CoverageReceipt receipt) {}

  static Stream<BatchSampler> samplers() {
    return Stream.of(
        Samplers.shuffled(5).globalBatchSize(GLOBAL),
        Samplers.shuffled(5).globalBatchSize(GLOBAL).everySample(),
        Samplers.shuffled(5).globalBatchSize(GLOBAL).evaluation(),
        Samplers.chunked(5, 8, 3).globalBatchSize(GLOBAL).everySample(),
        Samplers.chunked(5, 8, 3).globalBatchSize(GLOBAL).evaluation());
  }

  @ParameterizedTest
  @MethodSource("samplers")
  void theRestOfItIsTheSameByteForByteAndTheReceiptIsClean(BatchSampler sampler) throws Exception {
    List<String> states = new ArrayList<>();
    List<List<String>> whole = new ArrayList<>();
    try (Loader loader =
        Loader.open(
            samples.rows(), sampler, new WorldRank(0, 1), LoaderOptions.defaults().withDepth(2))) {
      states.add(loader.state().toJson().replace("\"e\":0", "\"e\":" + EPOCH));
      for (LoadedBatch batch : loader.epoch(EPOCH)) {
        whole.add(content(batch));
        states.add(loader.state().toJson());
      }
    }
    for (int from = 0; from < states.size(); from++) {
      EpochState state = EpochState.parse(states.get(from));
      assertThat(state.batch()).isEqualTo(from);
      for (int world : WORLDS) {
        List<Part> parts = resume(sampler, state, world);
        assertThat(joined(parts))
            .as("from batch %d on %d ranks", from, world)
            .isEqualTo(whole.subList(from, whole.size()));
        for (Part part : parts) {
          assertThat(part.receipt().isExact()).as("%s", part.receipt()).isTrue();
          assertThat(part.receipt().delivered() + part.receipt().dropped())
              .as("%s", part.receipt())
              .isEqualTo(Samples.ROWS);
        }
      }
    }
  }

  /** The samples of each global batch, in the order of ranks. */
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

  private List<Part> resume(BatchSampler sampler, EpochState state, int world) throws Exception {
    List<Communicator> group = LocalGroup.create(world, Duration.ofMinutes(1));
    ExecutorService threads = Executors.newFixedThreadPool(world);
    try {
      List<Future<Part>> running = new ArrayList<>();
      for (int rank = 0; rank < world; rank++) {
        int r = rank;
        running.add(
            threads.submit(() -> resume(sampler, state, new WorldRank(r, world), group.get(r))));
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

  private Part resume(
      BatchSampler sampler, EpochState state, WorldRank place, Communicator communicator) {
    LoaderOptions options = LoaderOptions.defaults().withDepth(2);
    try (communicator;
        Loader loader = Loader.open(samples.rows(), sampler, place, options)) {
      List<List<String>> batches = new ArrayList<>();
      for (LoadedBatch batch : loader.resume(state)) {
        batches.add(content(batch));
      }
      return new Part(batches, loader.receipt(communicator));
    }
  }

  /** Each sample that is no padding, after a look at whether it is that of its row. */
  private static List<String> content(LoadedBatch batch) {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < batch.samples() - batch.padding(); i++) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (String name : List.of("id", "image", "value")) {
        out.writeBytes(rows(batch.field(name), i, i + 1));
      }
      for (String name : List.of("points", "columns", "values")) {
        Tensor offsets = batch.offsets(name);
        out.writeBytes(rows(batch.field(name), offsets.getLong(i), offsets.getLong(i + 1L)));
      }
      assertThat(out.toByteArray()).isEqualTo(expected(batch.row(i)));
      all.add(HexFormat.of().formatHex(out.toByteArray()));
    }
    float[] weights = batch.weights().toFloatArray();
    for (int i = 0; i < weights.length; i++) {
      assertThat(weights[i]).isEqualTo(i < all.size() ? 1 : 0);
    }
    return all;
  }

  private static byte[] rows(Tensor tensor, long from, long to) {
    if (tensor.rows() == 0) {
      return new byte[0];
    }
    int rowBytes = (int) (tensor.bytes() / tensor.rows());
    byte[] bytes = new byte[(int) (to - from) * rowBytes];
    tensor.asByteBuffer().get((int) from * rowBytes, bytes);
    return bytes;
  }

  private static byte[] expected(long index) {
    int row = (int) index;
    ByteBuffer out = ByteBuffer.allocate(1000).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(row).put(Samples.image(row));
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

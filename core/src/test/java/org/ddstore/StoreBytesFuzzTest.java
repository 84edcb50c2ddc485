// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Untrusted;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.Backing;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;

/** Catalogs and offers of shards, and saved states of loaders. */
class StoreBytesFuzzTest {
  private static final Schema SCHEMA =
      Schema.of(Field.fixed("x", DType.FLOAT32, 2, 3), Field.ragged("y", DType.INT64));

  private static SegmentAddress address(String path, ProcessAddress endpoint) {
    return new SegmentAddress(new Nonce(1, 2), new BootId(3), path, 10, 480, "7@here", endpoint);
  }

  static List<byte[]> catalogs() {
    return List.of(
        Catalog.of(
                2,
                "rows",
                SCHEMA,
                List.of(address("/dev/shm/x", null), address(null, new ProcessAddress("h", 80, 5))))
            .toBytes());
  }

  @MethodSource("catalogs")
  @FuzzTest
  void catalog(byte[] bytes) {
    Untrusted.parse(() -> Catalog.parse(bytes), IllegalArgumentException.class)
        .ifPresent(
            catalog -> {
              assertThat(catalog.ranks()).isPositive();
              assertThat(Catalog.parse(catalog.toBytes()).toBytes()).isEqualTo(catalog.toBytes());
            });
  }

  static List<byte[]> offers() {
    return List.of(new ShardOffer(SCHEMA, address("/dev/shm/x", null)).toBytes());
  }

  @MethodSource("offers")
  @FuzzTest
  void offer(byte[] bytes) {
    Untrusted.parse(
        () -> ShardOffer.addresses("fuzz", offers().get(0), bytes),
        IllegalArgumentException.class,
        CollectiveMismatchException.class);
  }

  private static final List<BatchSampler> SAMPLERS =
      List.of(
          Samplers.shuffled(42).globalBatchSize(3).everySample(),
          Samplers.windows(3, 2, 1, Samplers.sequential()).batchSize(2),
          Samplers.weighted(1, 9, 1, 2, 3, 4, 5, 6, 7).batchSize(2));

  private static Communicator alone;
  private static DDStore store;
  private static List<Loader> loaders;

  @BeforeAll
  static void openLoaders() {
    alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
    store = DDStore.open(alone, StoreOptions.defaults().backing(Backing.DIRECT));
    store.add("rows", Tensor.wrap(new long[] {1, 2, 3, 4, 5, 6, 7}));
    loaders =
        SAMPLERS.stream()
            .map(
                sampler ->
                    Loader.open(
                        store.variable("rows"),
                        sampler,
                        new WorldRank(0, 1),
                        LoaderOptions.defaults()))
            .toList();
  }

  @AfterAll
  static void closeLoaders() {
    loaders.forEach(Loader::close);
    store.close();
    alone.close();
  }

  /** States of version 1, which have no checksum. */
  static Stream<byte[]> states() {
    Pattern checksum = Pattern.compile(",\"c\":\"[0-9a-f]+\"");
    return loaders.stream()
        .map(loader -> loader.state().toJson().replace("\"v\":2", "\"v\":1"))
        .map(text -> checksum.matcher(text).replaceAll("").getBytes(UTF_8));
  }

  /** A loader refuses a text, or continues with the batches behind its position. */
  @MethodSource("states")
  @FuzzTest
  void loaderState(byte[] bytes) {
    Untrusted.parse(
            () -> EpochState.parse(new String(bytes, UTF_8)), IllegalArgumentException.class)
        .ifPresent(state -> loaders.forEach(loader -> resume(loader, state)));
  }

  private static void resume(Loader loader, EpochState state) {
    Untrusted.parse(() -> loader.resume(state), IllegalArgumentException.class)
        .ifPresent(
            loop -> {
              long batch = state.batch();
              for (LoadedBatch each : loop) {
                assertThat(each.number()).isEqualTo(batch++);
                assertThat(each.samples()).isPositive();
              }
              loader.receipt(alone);
              EpochState end = loader.state();
              assertThat(end.batch()).isEqualTo(batch);
              assertThat(EpochState.parse(end.toJson())).isEqualTo(end);
            });
    int epochs = 1 + (int) (state.epoch() % 3);
    Untrusted.parse(() -> loader.epochs(epochs, state), IllegalArgumentException.class)
        .ifPresent(
            loop ->
                Untrusted.parse(
                    () -> {
                      loop.forEach(each -> assertThat(each.samples()).isPositive());
                      return loader.state().toJson();
                    },
                    IllegalArgumentException.class));
  }
}

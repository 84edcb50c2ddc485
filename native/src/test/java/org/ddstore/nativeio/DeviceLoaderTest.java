// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.OptionalInt;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Leaks;
import org.ddstore.device.DeviceBatch;
import org.ddstore.device.DeviceLoader;
import org.ddstore.device.DeviceLoop;
import org.ddstore.device.DeviceTensor;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.DeviceStream;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.nativeio.FakeCuda.Count;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.DeviceException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Batches on a device, against a driver that completes copies as late as it may: memory that is
 * reused or freed too early has wrong values each time.
 */
@Timeout(120)
class DeviceLoaderTest {
  private static final int ROWS = 500;
  private static final int VALUES = 64;
  private static final int BATCH = 16;
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir private static Path directory;

  private Leaks leaks;
  private Communicator alone;
  private DDStore store;

  @BeforeEach
  void open() {
    FakeCuda.need();
    FakeCuda.use();
    leaks = new Leaks(directory.resolve("stores"));
    StoreOptions direct = StoreOptions.defaults().backing(Backing.DIRECT);
    alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
    store = DDStore.open(alone, direct);
    ShardWriter shard =
        ShardWriter.create(
            Schema.of(Field.fixed("x", DType.UINT8, VALUES), Field.ragged("r", DType.INT32)),
            direct);
    for (int row = 0; row < ROWS; row++) {
      shard.append(bytes(row), ints(row));
    }
    store.add("rows", shard);
  }

  private static byte[] bytes(int row) {
    byte[] bytes = new byte[VALUES];
    Arrays.fill(bytes, (byte) (row % 100));
    return bytes;
  }

  private static int[] ints(int row) {
    int[] ints = new int[row % 4];
    Arrays.fill(ints, row);
    return ints;
  }

  @AfterEach
  void assertNothingLeft() throws IOException {
    FakeCuda.reset();
    store.close();
    alone.close();
    leaks.assertNothingHeld();
    FakeCuda.assertNothingLeft();
  }

  private static BatchSampler sampler() {
    return Samplers.shuffled(1).batchSize(BATCH);
  }

  private static LoaderOptions options() {
    return LoaderOptions.defaults().cast("x", DType.FLOAT32, 0.5);
  }

  private DeviceLoader open(LoaderOptions options) {
    return DeviceLoader.open(store.variable("rows"), sampler(), new WorldRank(0, 1), options);
  }

  private static ByteBuffer read(DeviceTensor tensor) {
    return ByteBuffer.wrap(tensor.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static void checkValues(DeviceBatch batch) {
    ByteBuffer values = read(batch.field("x"));
    for (int i = 0; i < batch.samples(); i++) {
      int at = i * VALUES * Float.BYTES;
      assertThat(values.getFloat(at)).isEqualTo(batch.sample(i) % 100 / 2f);
      assertThat(values.getFloat(at + (VALUES - 1) * Float.BYTES))
          .isEqualTo(batch.sample(i) % 100 / 2f);
    }
  }

  private static void checkRagged(DeviceBatch batch) {
    ByteBuffer values = read(batch.field("r"));
    ByteBuffer offsets = read(batch.offsets("r"));
    for (int i = 0; i < batch.samples(); i++) {
      int[] row = ints((int) batch.sample(i));
      int from = (int) offsets.getLong(i * Long.BYTES);
      assertThat(offsets.getLong((i + 1) * Long.BYTES) - from).isEqualTo(row.length);
      for (int k = 0; k < row.length; k++) {
        assertThat(values.getInt((from + k) * Integer.BYTES)).isEqualTo(row[k]);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deliversEverySampleOnceOnTheDevice(boolean pinned) {
    try (DeviceLoader loader = open(options().device(1).pinnedMemory(pinned))) {
      assertThat(loader.device()).isEqualTo(1);
      for (int epoch = 0; epoch < 2; epoch++) {
        long number = 0;
        for (DeviceBatch batch : loader.epoch(epoch)) {
          checkValues(batch);
          checkRagged(batch);
          assertThat(read(batch.weights()).getFloat(0)).isEqualTo(1);
          assertThat(batch.number()).isEqualTo(number++);
          assertThat(batch.names()).containsExactlyInAnyOrder("x", "r");
          assertThat(batch.field("x").shape()).containsExactly(batch.samples(), VALUES);
          assertThat(batch.field("x").address() % 256)
              .isEqualTo(batch.offsets("r").address() % 256);
        }
        assertThat(loader.loader().receipt(alone).isExact()).isTrue();
      }
      Count used = pinned ? Count.PINNED_COPIES : Count.PAGEABLE_COPIES;
      assertThat(FakeCuda.count(used)).isPositive();
      assertThat(loader.loader().hostMemory().startsWith("pinned for device 1")).isEqualTo(pinned);
    }
  }

  /** The loader reads into the memory of a batch as soon as it is given back. */
  @ParameterizedTest
  @CsvSource({"1, 2", "2, 4", "16, 3"})
  void memoryOfTheHostIsReusedOnlyAfterItsCopy(int depth, int deviceDepth) {
    try (DeviceLoader loader = open(options().depth(depth).deviceDepth(deviceDepth))) {
      for (int epoch = 0; epoch < 5; epoch++) {
        for (DeviceBatch batch : loader.epoch(epoch)) {
          checkValues(batch);
        }
      }
    }
  }

  /** The consumer's stream runs last, as behind kernels that take long. */
  @ParameterizedTest
  @ValueSource(ints = {2, 5})
  void memoryOfTheDeviceIsReusedOnlyAfterTheConsumersWork(int deviceDepth) {
    try (DeviceStream consumer = CudaStream.open(0);
        HostMemory pinned = HostMemory.forDevice(OptionalInt.of(0));
        DeviceLoader loader = open(options().deviceDepth(deviceDepth))) {
      List<GrowingBuffer> results = new ArrayList<>();
      List<Long> firstSamples = new ArrayList<>();
      for (DeviceBatch batch : loader.epoch(3)) {
        firstSamples.add(batch.sample(0));
        results.add(copyOut(batch.field("x"), consumer, pinned));
      }
      assertThat(results).hasSize(ROWS / BATCH);
      consumer.synchronize();
      for (int i = 0; i < results.size(); i++) {
        assertThat(results.get(i).buffer().getFloat(0))
            .as("batch %d", i)
            .isEqualTo(firstSamples.get(i) % 100 / 2f);
      }
      results.forEach(GrowingBuffer::close);
    }
  }

  private static GrowingBuffer copyOut(
      DeviceTensor tensor, DeviceStream consumer, HostMemory pinned) {
    GrowingBuffer result = new GrowingBuffer(pinned);
    tensor.awaitOn(consumer.handle());
    consumer.copyOut(
        result.ensure(tensor.bytes()).slice(0, (int) tensor.bytes()), tensor.address());
    return result;
  }

  /** Each batch is larger than all before it. */
  @Test
  void memoryOfTheDeviceGrowsOnlyAfterTheConsumersWork() {
    LoaderOptions growing =
        options()
            .transform(
                batch -> {
                  int count = 1000 * (int) (batch.number() + 1);
                  ByteBuffer bytes = batch.allocate("g", DType.INT64, count).asByteBuffer();
                  bytes.putLong((count - 1) * Long.BYTES, batch.number());
                });
    try (DeviceStream consumer = CudaStream.open(0);
        HostMemory pinned = HostMemory.forDevice(OptionalInt.of(0));
        DeviceLoader loader = open(growing)) {
      List<GrowingBuffer> results = new ArrayList<>();
      for (DeviceBatch batch : loader.epoch(0)) {
        results.add(copyOut(batch.field("g"), consumer, pinned));
      }
      consumer.synchronize();
      for (int i = 0; i < results.size(); i++) {
        int last = (1000 * (i + 1) - 1) * Long.BYTES;
        assertThat(results.get(i).buffer().getLong(last)).isEqualTo(i);
      }
      results.forEach(GrowingBuffer::close);
    }
  }

  @Test
  void copiesIntoMemoryOfAnother() {
    try (DeviceStream consumer = CudaStream.open(0);
        DeviceLoader loader = open(options())) {
      long target = consumer.allocate(BATCH * VALUES * Float.BYTES);
      ByteBuffer back = ByteBuffer.allocateDirect(BATCH * VALUES * Float.BYTES);
      for (DeviceBatch batch : loader.epoch(0)) {
        batch.field("x").copyTo(target, consumer.handle());
        consumer.copyOut(back, target);
        consumer.synchronize();
        assertThat(back.order(ByteOrder.LITTLE_ENDIAN).getFloat(0))
            .isEqualTo(batch.sample(0) % 100 / 2f);
      }
      consumer.free(target);
    }
  }

  private static void end(DeviceLoader loader) {
    loader.close();
  }

  @Test
  void poppedBatchesLiveUntilTheyAreClosed() {
    try (DeviceLoader loader = open(options().depth(1).deviceDepth(3))) {
      assertThatThrownBy(() -> loader.pop(SOON)).isInstanceOf(NoSuchElementException.class);
      loader.epoch(0);
      List<DeviceBatch> held = List.of(loader.pop(SOON), loader.pop(SOON), loader.pop(SOON));
      assertThatThrownBy(() -> loader.pop(SOON))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageMatching("all 3 batches of DeviceLoader.*: close one, or raise deviceDepth");
      held.forEach(DeviceLoaderTest::checkValues);
      DeviceTensor tensor = held.get(1).field("x");
      held.get(1).close();
      held.get(1).close();
      assertThatThrownBy(tensor::address)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("closed: DeviceBatch[device 0, epoch 0, number 1]");
      try (DeviceBatch next = loader.pop(SOON)) {
        assertThat(next.number()).isEqualTo(3);
        checkValues(next);
      }
      loader.epoch(1); // discards what is copied ahead, and keeps what the consumer holds
      checkValues(held.get(0));
      end(loader);
      assertThatThrownBy(() -> held.get(0).field("x")).isInstanceOf(IllegalStateException.class);
      held.get(0).close();
      assertThatThrownBy(() -> loader.epoch(2))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("closed: DeviceLoader[device 0, ");
    }
  }

  @Test
  void anEpochCanBeLeftEarlyAndContinuedFromItsState() {
    EpochState state;
    List<Long> expected = new ArrayList<>();
    List<Long> seen = new ArrayList<>();
    try (DeviceLoader loader = open(options().deviceDepth(8))) {
      DeviceLoop loop = loader.epoch(0);
      for (int i = 0; i < 7; i++) {
        seen.add(loop.next().sample(0));
      }
      state = loader.loader().state();
      assertThat(state.batch()).as("batches that are copied ahead do not count").isEqualTo(7);
      assertThat(loop.remaining()).isEqualTo(ROWS / BATCH - 7);
      for (DeviceBatch batch : loader.epoch(0)) {
        expected.add(batch.sample(0));
      }
      assertThatThrownBy(loop::next).isInstanceOf(IllegalStateException.class);
    }
    try (DeviceLoader loader = open(options())) {
      for (DeviceBatch batch : loader.resume(state)) {
        seen.add(batch.sample(0));
        checkValues(batch);
      }
      assertThat(loader.loader().receipt(alone).isExact()).isTrue();
    }
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void aSampleThatIsOnlyCopiedAheadIsLostInTheReceipt() {
    try (DeviceLoader loader = open(options().deviceDepth(8))) {
      DeviceLoop loop = loader.epoch(0);
      loop.next();
      assertThat(loader.loader().receipt(alone).delivered()).isEqualTo(BATCH);
    }
  }

  @Test
  void anErrorOfATransformComesInPlaceOfItsBatch() {
    LoaderOptions failing =
        options()
            .workers(1)
            .transform(
                batch -> {
                  if (batch.number() == 5) {
                    throw new IllegalArgumentException("batch five");
                  }
                });
    try (DeviceLoader loader = open(failing.deviceDepth(8))) {
      DeviceLoop loop = loader.epoch(0);
      for (int i = 0; i < 5; i++) {
        checkValues(loop.next());
      }
      assertThatThrownBy(loop::next).hasMessage("batch five");
      assertThatThrownBy(loop::next).hasMessage("batch five");
    }
  }

  @Test
  void tensorsOfATransformAreCopied() {
    LoaderOptions making =
        options()
            .transform(batch -> batch.allocate("y", DType.INT64, 1).asByteBuffer().putLong(0, 42));
    try (DeviceLoader loader = open(making)) {
      for (DeviceBatch batch : loader.epoch(0)) {
        assertThat(read(batch.field("y")).getLong()).isEqualTo(42);
      }
      assertThatThrownBy(() -> loader.epoch(1).next().field("z"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("no field \"z\"; DeviceBatch[");
      assertThatThrownBy(() -> loader.epoch(1).next().offsets("x"))
          .hasMessageStartingWith("\"x\" has no offsets; the ragged fields of DeviceBatch[");
    }
  }

  /** Wherever the driver fails, the error names its call, is thrown again, and nothing is left. */
  @ParameterizedTest
  @CsvSource({
    "cuMemAlloc, 0, CUDA_ERROR_OUT_OF_MEMORY, 2",
    "cuMemAlloc, 1, CUDA_ERROR_OUT_OF_MEMORY, 2",
    "cuMemcpyHtoDAsync, 0, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuMemcpyHtoDAsync, 6, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuEventCreate, 0, CUDA_ERROR_OUT_OF_MEMORY, 2",
    "cuEventCreate, 2, CUDA_ERROR_OUT_OF_MEMORY, 2",
    "cuEventRecord, 0, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuEventRecord, 3, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuStreamWaitEvent, 0, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuStreamWaitEvent, 3, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
    "cuEventSynchronize, 0, CUDA_ERROR_ILLEGAL_ADDRESS, 700",
  })
  void errorsOfTheDriverAreThrownAndNothingIsLeft(String call, int after, String name, int number) {
    DeviceLoader loader = open(options().deviceDepth(3));
    try (loader) {
      FakeCuda.fail(call, after);
      DeviceException error =
          (DeviceException)
              catchThrowable(
                  () -> {
                    for (DeviceBatch batch : loader.epoch(0)) {
                      batch.awaitOn(0);
                      batch.synchronize();
                    }
                  });
      assertThat(error)
          .hasMessageMatching("device 0: " + call + ".*: " + name + " .*" + number + ".");
      assertThat(error.errorName()).isEqualTo(name);
      assertThat(error.errorNumber()).isEqualTo(number);
      assertThat(error.device()).isZero();
      FakeCuda.fail("cuInit", 1 << 30); // the driver works again
    }
    assertThat(loader.isClosed()).isTrue();
  }

  @Test
  void theFirstErrorIsThrownAgain() {
    try (DeviceLoader loader = open(options())) {
      FakeCuda.fail("cuMemcpyHtoDAsync", 4);
      Throwable error = catchThrowable(() -> loader.epoch(0).forEach(batch -> {}));
      assertThat(error).isInstanceOf(DeviceException.class);
      FakeCuda.fail("cuInit", 1 << 30);
      assertThatThrownBy(() -> loader.epoch(1)).isSameAs(error);
      assertThatThrownBy(() -> loader.pop(SOON)).isSameAs(error);
    }
  }

  @Test
  void aFailedOpenLeavesNothing() {
    FakeCuda.fail("cuStreamCreate", 0);
    assertThatThrownBy(() -> open(options()))
        .isInstanceOf(DDStoreException.class)
        .hasMessage("device 0 cannot be opened: cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY (2)");
  }

  @Test
  void acceptsOnlyTheDeviceAndContextOfItsThread() {
    assertThat(DeviceLoader.problem()).isEmpty();
    assertThatThrownBy(() -> open(options().device(2)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("device 2 is configured, but the driver has 2 devices");
    FakeCuda.makeCurrent(1);
    assertThatThrownBy(() -> open(options().device(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "device 0 is configured, but the current CUDA context is of device 1");
    try (DeviceLoader loader = open(options())) {
      assertThat(loader.device()).isEqualTo(1);
      checkValues(loader.epoch(0).next());
      assertThat(FakeCuda.count(Count.DEPTH)).as("contexts of this thread").isEqualTo(1);
    }
    FakeCuda.makeOtherCurrent(1);
    assertThatThrownBy(() -> open(options()))
        .isInstanceOf(DDStoreException.class)
        .hasMessageContaining("the current CUDA context of device 1 is not its primary context");
  }

  @Test
  void givesTheReasonWithoutADriver() {
    System.setProperty(CudaPinning.LIBRARY_PROPERTY, "libno-such-driver.so.1");
    assertThat(DeviceLoader.problem().orElseThrow())
        .startsWith("no device: no CUDA driver: libno-such-driver.so.1");
    assertThatThrownBy(() -> open(options()))
        .isInstanceOf(DDStoreException.class)
        .hasMessageMatching(
            "batches cannot be copied to a device: no device: no CUDA driver: .*: use a Loader");
  }
}

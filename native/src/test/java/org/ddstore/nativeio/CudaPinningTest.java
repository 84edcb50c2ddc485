// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Leaks;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.DevicePinning;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Against a driver that a test compiles: {@code fake_cuda.c} checks how it is called. */
@Timeout(120)
class CudaPinningTest {
  private static final int PAGE = 4096;

  @TempDir private static Path directory;

  @BeforeAll
  static void compile() {
    FakeCuda.need();
  }

  @AfterEach
  void forget() {
    FakeCuda.reset();
  }

  @Test
  void usesPlainMemoryWithoutADriverAndGivesTheReason() {
    System.setProperty(CudaPinning.LIBRARY_PROPERTY, "libno-such-driver.so.1");
    String reason = "not pinned: no CUDA driver: libno-such-driver.so.1: cannot open";
    assertThat(HostMemory.probe()).startsWith(reason);
    try (HostMemory memory = HostMemory.forDevice(OptionalInt.of(0));
        GrowingBuffer buffer = new GrowingBuffer(memory)) {
      buffer.ensure(10_000).putLong(9000, 7);
      assertThat(memory.pinnedBytes()).isZero();
      assertThat(memory.description()).startsWith(reason);
    }
    assertThatThrownBy(() -> CudaPinning.open(0))
        .isInstanceOf(DDStoreException.class)
        .hasMessageStartingWith("no CUDA driver");
  }

  @Test
  void pinsBuffersInWholePagesUntilTheyAreFreed() {
    FakeCuda.use();
    assertThat(HostMemory.probe()).isEqualTo("pinned by the CUDA driver 12.4");
    HostMemory memory = HostMemory.forDevice(OptionalInt.of(1));
    assertThat(memory.description()).isEqualTo("pinned for device 1 by the CUDA driver 12.4");
    List<GrowingBuffer> buffers = new ArrayList<>();
    long bytes = 0;
    for (int i = 0; i < 40; i++) { // neighbours share no page, or the driver would refuse
      GrowingBuffer buffer = new GrowingBuffer(memory);
      buffers.add(buffer);
      buffer.ensure(1 + 1000L * i).put(i, (byte) i);
      bytes += buffer.buffer().capacity();
      assertThat(buffer.buffer().alignedSlice(PAGE).capacity())
          .as("whole pages")
          .isEqualTo(buffer.buffer().capacity());
      assertThat(memory.pinnedBytes()).isEqualTo(bytes);
    }
    buffers.get(0).ensure(100_000); // grows: what it had is let go
    assertThat(memory.pinnedBytes())
        .isEqualTo(bytes - GrowingBuffer.capacityFor(1) + GrowingBuffer.capacityFor(100_000));
    memory.close(); // before its buffers are freed
    buffers.forEach(GrowingBuffer::close);
    assertThat(memory.pinnedBytes()).isZero();
    assertThat(memory.description()).doesNotContain("not");
  }

  @Test
  void rejectsADeviceThatTheDriverDoesNotHave() {
    FakeCuda.use();
    assertThatThrownBy(() -> HostMemory.forDevice(OptionalInt.of(7)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "device 7 is configured, but the driver has 2 devices, numbered from 0: use one in"
                + " [0, 2)");
    assertThatThrownBy(() -> CudaPinning.open(7))
        .isInstanceOf(DDStoreException.class)
        .hasMessage("device 7 outside [0, 2): the CUDA driver has 2 devices");
  }

  @Test
  void pinsForTheDeviceOfTheCurrentContext() {
    FakeCuda.use();
    FakeCuda.makeCurrent(1);
    try (HostMemory memory = HostMemory.forDevice(OptionalInt.empty())) {
      assertThat(memory.description()).isEqualTo("pinned for device 1 by the CUDA driver 12.4");
    }
    assertThatThrownBy(() -> HostMemory.forDevice(OptionalInt.of(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "device 0 is configured, but the current CUDA context is of device 1: ");
  }

  @Test
  void pinReportsTheErrorOfTheDriver() {
    FakeCuda.use();
    ByteBuffer direct = ByteBuffer.allocateDirect(3 * PAGE).alignedSlice(PAGE);
    try (DevicePinning pinning = CudaPinning.open(0)) {
      Runnable unpin = pinning.pin(direct);
      assertThatThrownBy(() -> pinning.pin(direct))
          .isInstanceOf(DDStoreException.class)
          .hasMessageMatching(
              "8,192 bytes cannot be pinned: cuMemHostRegister: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED \\(712\\)");
      unpin.run();
      pinning.pin(direct).run();
    }
    DevicePinning closed = CudaPinning.open(0);
    closed.close();
    closed.close();
    assertThatThrownBy(() -> closed.pin(direct))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: CudaPinning[closed, 0 users]");
  }

  @Test
  void pinsLoaderBatchesWithoutLeaks() throws IOException {
    FakeCuda.use();
    Leaks leaks = new Leaks(directory.resolve("stores"));
    StoreOptions direct = StoreOptions.defaults().backing(Backing.DIRECT);
    LoaderOptions options = LoaderOptions.defaults().device(1).cast("x", DType.FLOAT32, 0.5);
    LoadedBatch held;
    try (Communicator alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
        DDStore store = DDStore.open(alone, direct)) {
      ShardWriter shard = ShardWriter.create(Schema.of(Field.fixed("x", DType.UINT8, 50)), direct);
      for (int row = 0; row < 500; row++) {
        shard.append((Object) bytes(row));
      }
      store.add("rows", shard);
      try (Loader loader =
          Loader.open(
              store.variable("rows"),
              Samplers.shuffled(1).batchSize(16),
              new WorldRank(0, 1),
              options)) {
        for (LoadedBatch batch : loader.epoch(0)) {
          assertThat(batch.field("x").getFloat(49)).isEqualTo(batch.row(0) % 100 / 2f);
        }
        assertThat(loader.hostMemory()).isEqualTo("pinned for device 1 by the CUDA driver 12.4");
        loader.epoch(1);
        held = loader.pop(Duration.ofSeconds(30));
      }
      assertThat(held.field("x").getFloat(49)).isEqualTo(held.row(0) % 100 / 2f);
      held.close();
    }
    leaks.assertNothingHeld();
  }

  private static byte[] bytes(int row) {
    byte[] bytes = new byte[50];
    java.util.Arrays.fill(bytes, (byte) (row % 100));
    return bytes;
  }
}

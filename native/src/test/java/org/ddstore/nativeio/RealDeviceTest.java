// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.device.DeviceBatch;
import org.ddstore.device.DeviceLoader;
import org.ddstore.device.DeviceTensor;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.DeviceStream;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** On a GPU. Skipped without one, also in CI, whose machines have none. */
@Timeout(300)
class RealDeviceTest {
  private static final int ROWS = 2000;
  private static final int VALUES = 100_000;
  private static final int BATCH = 64;

  @Test
  void deliversEveryBatchOfAnEpochOnTheDevice() {
    Optional<String> problem = DeviceLoader.problem();
    if (problem.isPresent()) {
      System.out.println("skipped, needs a GPU: " + problem.get());
      Assumptions.abort("needs a GPU: " + problem.get());
    }
    StoreOptions direct = StoreOptions.defaults().backing(Backing.DIRECT);
    LoaderOptions options = LoaderOptions.defaults().deviceDepth(3).device(0);
    try (Communicator alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
        DDStore store = DDStore.open(alone, direct)) {
      store.add("rows", rows(direct));
      try (DeviceStream consumer = CudaStream.open(0);
          DeviceLoader loader =
              DeviceLoader.open(
                  store.variable("rows"),
                  Samplers.shuffled(1).batchSize(BATCH),
                  new WorldRank(0, 1),
                  options)) {
        long target = consumer.allocate((long) BATCH * VALUES);
        ByteBuffer back = ByteBuffer.allocateDirect(BATCH * VALUES).order(ByteOrder.LITTLE_ENDIAN);
        for (DeviceBatch batch : loader.epoch(0)) {
          DeviceTensor tensor = batch.field("x");
          tensor.copyTo(target, consumer.handle());
          consumer.copyOut(back.limit((int) tensor.bytes()), target);
          consumer.synchronize();
          for (int i = 0; i < batch.samples(); i++) {
            byte expected = (byte) (batch.sample(i) % 100);
            assertThat(back.get(i * VALUES)).isEqualTo(expected);
            assertThat(back.get((i + 1) * VALUES - 1)).isEqualTo(expected);
          }
        }
        consumer.free(target);
        assertThat(loader.loader().receipt(alone).isExact()).isTrue();
        assertThat(loader.loader().hostMemory())
            .startsWith("pinned for device 0 by the CUDA driver");
      }
    }
  }

  private static ShardWriter rows(StoreOptions options) {
    ShardWriter rows =
        ShardWriter.create(Schema.of(Field.fixed("x", DType.UINT8, VALUES)), options);
    byte[] row = new byte[VALUES];
    for (int i = 0; i < ROWS; i++) {
      Arrays.fill(row, (byte) (i % 100));
      rows.append((Object) row);
    }
    return rows;
  }
}

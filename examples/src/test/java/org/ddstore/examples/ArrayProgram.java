// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.time.Duration;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * Makes an array of a batch as {@link Train} does, and prints what is read in the one after a write
 * to the other. Needs PyTorch on its class path.
 */
final class ArrayProgram {
  private static final StoreOptions OPTIONS = StoreOptions.defaults().backing(Backing.DIRECT);
  private static final int ROWS = 8;

  private ArrayProgram() {}

  public static void main(String[] arguments) {
    ShardWriter shard =
        ShardWriter.create(Schema.of(Field.fixed("image", DType.UINT8, 28, 28)), OPTIONS);
    for (int row = 0; row < ROWS; row++) {
      shard.append((Object) new byte[28 * 28]);
    }
    try (Communicator alone = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
        DDStore store = DDStore.open(alone, OPTIONS);
        Loader loader =
            Loader.open(
                store.add("images", shard),
                Samplers.sequential().globalBatchSize(ROWS),
                new WorldRank(0, 1),
                LoaderOptions.defaults().cast("image", DType.FLOAT32))) {
      print(loader.epoch(0).next().field("image"));
    }
  }

  private static void print(Tensor images) {
    try (NDManager memory = NDManager.newBaseManager(Device.cpu())) {
      NDArray array = Train.view(images, memory);
      int last = ROWS * 28 * 28 - 1;
      images.asByteBuffer().putFloat(Float.BYTES * last, 7);
      float inArray = array.toFloatArray()[last];
      array.addi(1);
      System.out.printf("%s, %s, %s%n", images, inArray, images.getFloat(last));
    }
  }
}

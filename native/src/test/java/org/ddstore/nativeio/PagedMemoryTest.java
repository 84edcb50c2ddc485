// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.LongStream;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Needed;
import org.ddstore.contract.TestRoots;
import org.ddstore.types.DType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads into Java arrays: pinned where rows are memory, not where they may come from a disk. */
class PagedMemoryTest {
  private static final int ROWS = 1000;

  @BeforeEach
  void needsTheLibrary() {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
  }

  @Test
  void readsFromDiskWithoutPinningTheArray() throws IOException {
    Path root = TestRoots.onDisk();
    try {
      assertThat(pieceBytes(StoreOptions.defaults().files(root))).isPositive();
    } finally {
      TestRoots.delete(root);
    }
  }

  @Test
  void fillsAnArrayDirectlyFromSharedMemory() throws IOException {
    Path root = TestRoots.sharedMemory();
    try {
      assertThat(pieceBytes(StoreOptions.defaults().sharedMemory(root))).isZero();
    } finally {
      TestRoots.delete(root);
    }
  }

  private static long pieceBytes(StoreOptions options) {
    long[] indices = LongStream.range(0, ROWS).map(i -> i * 787 % ROWS).toArray();
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
        DDStore store = DDStore.open(alone, options)) {
      Variable x = store.add("x", Tensor.wrap(LongStream.range(0, 3 * ROWS).toArray(), ROWS, 3));
      try (Reader reader = x.reader()) {
        long[] longs = new long[3 * ROWS];
        reader.getBatch(Tensor.wrap(longs, ROWS, 3), indices);
        byte[] bytes = new byte[longs.length * Long.BYTES];
        ByteBuffer slice = ByteBuffer.wrap(bytes);
        reader.getBatch(Tensor.wrap(DType.INT64, slice, ROWS, 3), indices);
        for (int i = 0; i < ROWS; i++) {
          assertThat(longs[3 * i + 2]).isEqualTo(3 * indices[i] + 2);
        }
        assertThat(bytes).isEqualTo(Tensor.wrap(longs).toByteArray());
        return reader.workingBytes();
      }
    }
  }
}

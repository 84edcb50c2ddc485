// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.StoreOptions;
import org.ddstore.Tensor;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.contract.Needed;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.MappedRegion;
import org.ddstore.memory.OffHeapBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store releases all its resources, also over many cycles. */
@Tag("slow")
class NativeLeakTest {
  private static final int WARM_UP = 300;
  private static final int CYCLES = 900;
  private static final int ROWS = 4096;
  private static final int ROW_FLOATS = 64;

  private static final long MAX_GROWTH_KIB =
      CYCLES * ROWS * ROW_FLOATS * (long) Float.BYTES / 3 / 1024;

  private final float[] rows = new float[ROWS * ROW_FLOATS];

  private final float[] all = new float[ROWS * ROW_FLOATS];

  @Test
  void cyclesLeaveNothingBehind() throws IOException {
    Needed.check("libddstore.so", NativeLibrary.isLoaded(), NativeLibrary::description);
    Path root = TestRoots.sharedMemory();
    for (int i = 0; i < WARM_UP; i++) {
      cycle(root);
    }
    long descriptors = descriptors();
    long residentKib = residentKib();
    for (int i = 0; i < CYCLES; i++) {
      cycle(root);
    }
    assertThat(descriptors()).as("descriptors").isEqualTo(descriptors);
    assertThat(residentKib() - residentKib).as("KiB more").isLessThan(MAX_GROWTH_KIB);
    assertThat(OffHeapBuffer.liveBytes()).isZero();
    assertThat(MappedRegion.liveBytes()).isZero();
    TestRoots.delete(root);
  }

  private void cycle(Path root) {
    rows[ROW_FLOATS] = 1;
    long[] indices = new long[ROWS];
    indices[7] = 1;
    StoreOptions options = StoreOptions.defaults().sharedMemory(root);
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
        DDStore store = DDStore.open(alone, options)) {
      store.add("x", Tensor.wrap(rows, ROWS, ROW_FLOATS));
      try (Reader reader = store.variable("x").reader();
          Batch batch = reader.getBatch(indices)) {
        assertThat(batch.rows()).isEqualTo(ROWS);
        reader.getBatch(Tensor.wrap(all, ROWS, ROW_FLOATS), indices);
      }
      assertThat(all[7 * ROW_FLOATS]).isOne();
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  private static long residentKib() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .findAny()
          .orElseThrow();
    }
  }
}

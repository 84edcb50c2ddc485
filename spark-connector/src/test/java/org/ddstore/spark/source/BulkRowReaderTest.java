// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of rows that are read together when some are far larger than most. */
@Timeout(120)
class BulkRowReaderTest {
  private static final int MIB = 1 << 20;

  /** The mean, if most rows are as small as the last one here. */
  private static final double MEAN_BYTES = 16;

  private Communicator group;
  private DDStore store;
  private long bytesBefore;

  @BeforeEach
  void open() {
    bytesBefore = OffHeapBuffer.liveBytes();
    group = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
    store = DDStore.open(group, StoreOptions.defaults().backing(Backing.DIRECT));
  }

  @AfterEach
  void close() {
    store.close();
    group.close();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(bytesBefore);
  }

  /** Row 0 has this number of bytes, row 1 the byte 7. */
  private BulkRowReader reader(int largeBytes) {
    ShardWriter writer =
        ShardWriter.create(
            Schema.of(Field.ragged("x", DType.UINT8)),
            StoreOptions.defaults().backing(Backing.DIRECT));
    writer.append(new byte[largeBytes]);
    writer.append(new byte[] {7});
    return new BulkRowReader(store.add("rows", writer), MEAN_BYTES, new ReadCounts(), 0);
  }

  @Test
  void readsFewerRowsTogetherIfTheyAreLarge() {
    try (BulkRowReader reader = reader(3 * MIB)) {
      assertThat(reader.maxRows()).as("by the mean").isGreaterThan(10_000);
      assertThat(reader.read(1, 1, 1).counts(0)).containsExactly(1, 1, 1);
      assertThat(reader.maxRows()).as("rows like the mean").isGreaterThan(10_000);
      reader.read(0, 0, 0, 0, 0, 0, 0, 0);
      assertThat(reader.rows()).as("8 MiB of rows of 3 MiB").isEqualTo(2);
      assertThat(reader.maxRows()).isEqualTo(2);
      for (int rows = 2; rows <= 64; rows *= 2) {
        assertThat(reader.maxRows()).as("rows are small again").isEqualTo(rows);
        long[] small = new long[rows];
        Arrays.fill(small, 1);
        reader.read(small);
      }
    }
  }

  @Test
  void rowsBeyondOneBatchArriveInParts() {
    long[] indices = new long[96]; // 36 of 64 MiB at the end: 2.25 GiB
    Arrays.fill(indices, 0, 60, 1);
    try (BulkRowReader reader = reader(64 * MIB)) {
      for (int i = 0; i < 2; i++) { // without a batch to fill, and with one
        FieldPlaces places = reader.read(indices);
        assertThat(reader.rows()).isEqualTo(60);
        assertThat(places.counts(0)).startsWith(1, 1, 1).hasSizeGreaterThanOrEqualTo(60);
      }
      reader.read(Arrays.copyOfRange(indices, 60, 96));
      assertThat(reader.rows()).as("one that is larger than what comes at once").isEqualTo(1);
    }
  }
}

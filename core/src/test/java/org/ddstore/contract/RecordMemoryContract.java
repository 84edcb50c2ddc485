// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.RecordMemory;
import org.ddstore.Variable;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;

/** Records read in place, by address. */
interface RecordMemoryContract extends Contract {

  @Test
  default void findsFixedRecordsAtTheirAddresses() throws Exception {
    long seed = Rows.seed("findsFixedRecordsAtTheirAddresses");
    runWithStore(
        (rank, store) -> {
          Variable variable = Rows.addLongs(store, "x", seed);
          for (long row = 0; row < variable.rows(); row++) {
            ReadPath path = rank.pathTo(holder(rank, row));
            if (path == ReadPath.REMOTE) {
              assertThat(variable.memory(row)).isEmpty();
            } else {
              try (RecordMemory memory = variable.memory(row).orElseThrow()) {
                assertThat(memory.path()).isEqualTo(path);
                assertThat(memory.holds(row)).isTrue();
                assertThat(memory.firstRow()).isEqualTo(Rows.first(holder(rank, row)));
                assertThat(memory.rows()).isEqualTo(Rows.count(holder(rank, row)));
                assertThat(memory.run(row)).isEqualTo(memory.firstRow() + memory.rows() - row);
                assertThat(RawBytes.at(memory.address(row), memory.recordBytes(row)))
                    .isEqualTo(Rows.longs(seed, row));
              }
            }
          }
          assertThatThrownBy(() -> variable.memory(variable.rows()))
              .isInstanceOf(IndexOutOfBoundsException.class)
              .hasMessageContaining("row %d outside".formatted(variable.rows()));
          rank.meet();
        });
  }

  private static int holder(RankEnv rank, long row) {
    int holder = 0;
    while (holder + 1 < rank.ranks() && Rows.first(holder + 1) <= row) {
      holder++;
    }
    return holder;
  }

  @Test
  default void aRecordMemoryOutlivesItsStore() throws Exception {
    assumeFalse(readsOverANetwork(), "no memory of the rows is given out");
    long seed = Rows.seed("aRecordMemoryOutlivesItsStore");
    run(
        1,
        rank -> {
          RecordMemory memory;
          try (DDStore store = rank.open()) {
            memory = Rows.addLongs(store, "x", seed).memory(2).orElseThrow();
          }
          assertThat(RawBytes.at(memory.address(2), 24)).isEqualTo(Rows.longs(seed, 2));
          assertThatThrownBy(() -> memory.address(Rows.count(0)))
              .isInstanceOf(IndexOutOfBoundsException.class);
          memory.close();
          memory.close();
          assertThatThrownBy(() -> memory.address(2))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageStartingWith("closed: RecordMemory");
        });
  }

  @Test
  default void findsRaggedRecordsAtTheirAddresses() throws Exception {
    assumeFalse(readsOverANetwork(), "no memory of the rows is given out");
    long seed = Rows.seed("findsRaggedRecordsAtTheirAddresses");
    run(
        1,
        rank -> {
          try (DDStore store = rank.open()) {
            Variable variable = Records.add(store, rank, seed);
            Schema schema = variable.schema();
            try (RecordMemory memory = variable.memory(0).orElseThrow()) {
              for (long row = 0; row < variable.rows(); row++) {
                byte[] record = RawBytes.at(memory.address(row), memory.recordBytes(row));
                ByteBuffer bytes = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
                assertThat(memory.run(row)).isEqualTo(1);
                assertThat(schema.recordBytes(bytes, 0)).isEqualTo(record.length);
                try (Batch batch = store.getBatch("records", row)) {
                  assertThat(bytes.getInt(0)).isEqualTo((int) batch.field("label").getLong(0));
                  assertThat(bytes.getInt(schema.lengthOffset(schema.indexOf("text"))))
                      .isEqualTo(batch.bytes("text", 0).length);
                }
              }
            }
          }
        });
  }

  /** Chunks of direct memory are small enough for a test. */
  @Test
  default void aRunEndsWithItsChunk() throws Exception {
    assumeFalse(readsOverANetwork(), "no memory of the rows is given out");
    run(
        1,
        rank -> {
          int rows = 100;
          try (DDStore store = rank.open(rank.options().backing(Backing.DIRECT))) {
            Variable variable = store.init("x", rows, DType.INT8, 1 << 20);
            assertThat(variable.schema().field(0)).isEqualTo(Field.fixed("x", DType.INT8, 1 << 20));
            try (RecordMemory memory = variable.memory(0).orElseThrow()) {
              long chunk = memory.run(0);
              assertThat(chunk).isLessThan(rows);
              for (long row = 0; row < rows; row++) {
                long expected = Math.min(chunk - row % chunk, rows - row);
                assertThat(memory.run(row)).as("run at %d", row).isEqualTo(expected);
                if (expected > 1) {
                  assertThat(memory.address(row + 1) - memory.address(row)).isEqualTo(1 << 20);
                }
              }
            }
          }
        });
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sizes at which 32 bits end. */
interface LargeContract extends Contract {
  int GIB = 1 << 30;

  @Test
  @Tag("slow")
  @Tag("always")
  default void readsAShardAboveTwoGiB() throws Exception {
    run(
        2,
        rank -> {
          int rowBytes = 1_000_000; // 1,024 rows a chunk of 1 GiB: not a power of two
          long rows = 2400;
          try (DDStore store = rank.open()) {
            Variable x = store.init("x", rank.rank() == 0 ? rows : 1, DType.UINT8, rowBytes);
            long[] marked = {0, 63, 64, 1023, 1024, 2047, 2048, 2147, 2148, rows - 1};
            if (rank.rank() == 0) {
              for (long row : marked) {
                byte[] bytes = new byte[rowBytes];
                bytes[0] = (byte) (row + 1);
                bytes[rowBytes - 1] = (byte) (row + 2);
                store.update("x", Tensor.wrap(DType.UINT8, bytes, 1, rowBytes), row);
              }
            }
            store.epochBegin();
            store.epochEnd();
            try (Reader reader = x.reader();
                Batch batch = reader.getBatch(marked)) {
              ByteBuffer bytes = batch.field("x").asByteBuffer();
              for (int i = 0; i < marked.length; i++) {
                assertThat(bytes.get(i * rowBytes)).isEqualTo((byte) (marked[i] + 1));
                assertThat(bytes.get(i * rowBytes + 1)).isZero();
                assertThat(bytes.get((i + 1) * rowBytes - 1)).isEqualTo((byte) (marked[i] + 2));
              }
              Tensor border = Rows.room(x.schema().field(0), 3);
              reader.get(border, 1023);
              ByteBuffer run = border.asByteBuffer();
              assertThat(run.get(0)).isEqualTo((byte) 0);
              assertThat(run.get(rowBytes - 1)).isEqualTo((byte) 1);
              assertThat(run.get(rowBytes)).isEqualTo((byte) 1);
              assertThat(run.get(2 * rowBytes)).isZero();
              reader.get(border, rows - 2);
              assertThat(run.get(rowBytes)).isEqualTo((byte) rows);
              assertThat(run.get(2 * rowBytes)).as("first row of rank 1").isZero();
            }
            assertThat(store.info().variables().get(0).extents().get(0).bytes())
                .isEqualTo(rows * rowBytes);
          }
        });
  }

  @Test
  @Tag("slow")
  default void readsRaggedRecordsAcrossChunks() throws Exception {
    run(
        2,
        rank -> {
          int most = 300 << 20; // three or four records a chunk
          int rows = rank.rank() == 0 ? 5 : 0;
          try (DDStore store = rank.open();
              ShardWriter shard =
                  ShardWriter.create(Schema.of(Field.bytes("blob")), rank.options())) {
            ByteBuffer record = ByteBuffer.allocate(most + 4).order(ByteOrder.LITTLE_ENDIAN);
            for (int row = 0; row < rows; row++) {
              int length = most - row;
              record.clear().limit(length + 4).putInt(0, length);
              record.put(4, (byte) (10 + row)).put(length + 3, (byte) (20 + row));
              shard.appendPacked(record);
              record.put(length + 3, (byte) 0);
              shard.appendPacked(ByteBuffer.allocate(4)); // an empty one after each
            }
            Variable x = store.add("x", shard);
            assertThat(x.rows()).isEqualTo(10);
            try (Reader reader = x.reader()) {
              for (int row : new int[] {4, 0, 3, 2, 1}) {
                try (Batch batch = reader.getBatch(2L * row, 2L * row + 1)) {
                  ByteBuffer bytes = batch.field("blob").asByteBuffer();
                  assertThat(bytes.limit()).isEqualTo(most - row);
                  assertThat(bytes.get(0)).isEqualTo((byte) (10 + row));
                  assertThat(bytes.get(bytes.limit() - 1)).isEqualTo((byte) (20 + row));
                  assertThat(batch.bytes("blob", 1)).isEmpty();
                }
              }
            }
          }
        });
  }

  @Test
  @Tag("slow")
  default void acceptsARecordOfOneGiBAndRejectsALargerOne() throws Exception {
    run(
        2,
        rank -> {
          try (DDStore store = rank.open()) {
            Variable x = store.init("x", rank.rank() == 1 ? 1 : 0, DType.UINT8, GIB);
            try (Reader reader = x.reader();
                Batch batch = reader.getBatch(0)) {
              assertThat(batch.field("x").bytes()).isEqualTo(GIB);
            }
          }
          assertThatThrownBy(() -> Schema.of(Field.fixed("x", DType.UINT8, GIB + 1)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the limit is 1 GiB (1,073,741,824)");
          try (ShardWriter shard =
              ShardWriter.create(
                  Schema.of(Field.bytes("a"), Field.fixed("b", DType.INT64)), rank.options())) {
            shard.append(new byte[5], 6L);
            if (rank.rank() == 1) {
              try (OffHeapBuffer large = OffHeapBuffer.allocate(GIB + 1L)) {
                assertThatThrownBy(() -> shard.appendPacked(large.buffer()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                        "row 1 has 1,073,741,825 bytes; a record may have at most 1 GiB (1,073,741,824)");
              }
            }
            shard.append(new byte[6], 7L);
            assertThat(shard.rows()).isEqualTo(2);
          }
        });
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.Tensor;
import org.ddstore.Variable;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.junit.jupiter.api.Test;

/** The legal destinations of reads, and the refusal of others before one of their bytes changes. */
interface DestinationContract extends Contract {
  @Test
  default void readsIntoBuffersOfAnyOrderAndPosition() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          byte[] expected = Rows.longs(1, 3, 0);
          for (ByteBuffer buffer :
              new ByteBuffer[] {
                ByteBuffer.allocate(60),
                ByteBuffer.allocateDirect(60),
                ByteBuffer.allocate(60).order(ByteOrder.LITTLE_ENDIAN),
                ByteBuffer.allocate(70).position(9).slice()
              }) {
            buffer.position(5);
            store.getBatch("x", Tensor.wrap(DType.INT64, buffer, 2, 3), 3, 0);
            assertThat(buffer.position()).isEqualTo(5);
            byte[] got = new byte[60];
            buffer.get(0, got);
            assertThat(got).startsWith(expected);
            assertThat(Arrays.copyOfRange(got, 48, 60)).containsOnly(0);
          }
        });
  }

  @Test
  default void readsIntoArraysLargerThanAPiece() throws Exception {
    runWithStore(
        (rank, store) -> {
          int rows = 40_000; // of 24 bytes: several pieces of 256 KiB
          Variable x =
              store.add("x", Rows.range(DType.FLOAT64, 1, 0, rank.rank() == 1 ? rows : 0, 3));
          long[] indices = Rows.shuffledTwice(rows, 4);
          double[] got = new double[indices.length * 3];
          store.getBatch("x", Tensor.wrap(got, indices.length, 3), indices);
          assertThat(Tensor.wrap(got).toByteArray())
              .isEqualTo(Rows.bytesOf(DType.FLOAT64, 1, 3, indices));
          double[] all = new double[rows * 3];
          store.get("x", Tensor.wrap(all, rows, 3), 0);
          assertThat(Tensor.wrap(all).toByteArray())
              .isEqualTo(Rows.bytes(DType.FLOAT64, 1, 0, rows, 3));
          assertThat(x.rows()).isEqualTo(rows);
        });
  }

  @Test
  default void rejectsEveryOtherType() throws Exception {
    runWithStore(
        (rank, store) -> {
          for (DType stored : DType.values()) {
            Variable x = store.init(stored.toString(), 2, stored, 2);
            try (Reader reader = x.reader()) {
              for (DType asked : DType.values()) {
                ByteBuffer memory = ByteBuffer.allocate(2 * asked.bytes()).put((byte) 9).clear();
                Tensor room = Tensor.wrap(asked, memory, 1, 2);
                if (asked == stored) {
                  reader.get(room, 0);
                  continue;
                }
                String message =
                    "the destination is %s[1, 2], but 1 row of %s %s[2] needs %s[1, 2]"
                        .formatted(asked, stored, stored, stored);
                assertThatThrownBy(() -> reader.get(room, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(message);
                assertThatThrownBy(() -> reader.getBatch(room, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(message);
                assertThat(memory.get(0)).isEqualTo((byte) 9);
              }
            }
          }
        });
  }

  @Test
  default void rejectsOtherShapes() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = store.init("x", 5, DType.UINT8, 2, 3);
          byte[] memory = new byte[36];
          Arrays.fill(memory, (byte) 9);
          long[][] shapes = {{12}, {2, 6}, {2, 3, 2}, {2, 2, 3, 1}, {1, 2, 3}, {3, 2, 3}, {2, 3}};
          try (Reader reader = x.reader()) {
            for (long[] shape : shapes) {
              Tensor room = Tensor.wrap(DType.UINT8, ByteBuffer.wrap(memory), shape);
              assertThatThrownBy(() -> reader.getBatch(room, 0, 1))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("the destination is uint8" + Arrays.toString(shape))
                  .hasMessageContaining("need uint8[2, 2, 3]");
            }
          }
          assertThat(memory).containsOnly(9);
        });
  }

  @Test
  default void rejectsTooSmallAndReadOnlyMemory() throws Exception {
    runWithStore(
        (rank, store) -> {
          Rows.addLongs(store, "x", 1);
          assertThatThrownBy(() -> Tensor.wrap(DType.INT64, ByteBuffer.allocate(47), 2, 3))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessage("tensor of int64 and shape [2, 3] needs 48 bytes, but the memory has 47");
          assertThatThrownBy(() -> Tensor.wrap(new long[5], 2, 3))
              .isInstanceOf(IllegalArgumentException.class);
          byte[] memory = new byte[48];
          Tensor readOnly =
              Tensor.wrap(DType.INT64, ByteBuffer.wrap(memory).asReadOnlyBuffer(), 2, 3);
          for (Runnable read :
              new Runnable[] {
                () -> store.get("x", readOnly, 0), () -> store.getBatch("x", readOnly, 0, 1)
              }) {
            assertThatThrownBy(read::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the destination int64[2, 3] is read-only");
          }
          assertThat(memory).containsOnly(0);
        });
  }

  @Test
  default void alignsBatchesAndReusesTheirMemory() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          try (Reader reader = x.reader()) {
            for (int i = 0; i < 50; i++) {
              long[] indices = Rows.shuffledTwice(1 + i % 7, i);
              try (Batch batch = reader.getBatch(indices);
                  Batch other = reader.getBatch(0)) {
                assertThat(batch.field("x").asByteBuffer().alignmentOffset(0, 256)).isZero();
                assertThat(other.field("x").toByteArray()).isEqualTo(Rows.longs(1, 0));
                reader.getBatch(other, 1, 1, 2);
                assertThat(other.field("x").toByteArray()).isEqualTo(Rows.longs(1, 1, 1, 2));
                assertThat(batch.field("x").toByteArray()).isEqualTo(Rows.longs(1, indices));
              }
            }
          }
        });
  }

  @Test
  default void rejectsAClosedBatchAndABatchOfAnotherReader() throws Exception {
    runWithStore(
        (rank, store) -> {
          Variable x = Rows.addLongs(store, "x", 1);
          try (Reader reader = x.reader();
              Reader another = x.reader()) {
            Batch batch = reader.getBatch(0);
            assertThatThrownBy(() -> another.getBatch(batch, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("batch does not belong to Reader[\"x\"]: Batch[");
            batch.close();
            batch.close();
            assertThatThrownBy(() -> reader.getBatch(batch, 0))
                .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> batch.field("x")).isInstanceOf(IllegalStateException.class);
          }
        });
  }

  @Test
  default void rejectsABatchAboveTwoGiBWithTheLegalSize() throws Exception {
    runWithStore(
        (rank, store) -> {
          int rowBytes = 1 << 20;
          Variable x = store.init("x", rank.rank() == 0 ? 1 : 0, DType.UINT8, rowBytes);
          Field field = x.schema().field(0);
          int most = (Integer.MAX_VALUE - 256) / rowBytes;
          try (Reader reader = x.reader()) {
            assertThatThrownBy(() -> reader.getBatch(new long[most + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("%,d rows of %s".formatted(most + 1, field))
                .hasMessageContaining("read at most %,d rows a batch".formatted(most));
            try (Batch batch = reader.getBatch(0)) {
              assertThat(batch.field("x").bytes()).isEqualTo(rowBytes);
            }
          }
        });
  }
}

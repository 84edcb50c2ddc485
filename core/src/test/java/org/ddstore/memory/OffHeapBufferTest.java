// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OffHeapBufferTest {
  @Test
  void allocatesZeroedAlignedLittleEndianMemory() {
    long before = OffHeapBuffer.liveBytes();
    for (int bytes : new int[] {0, 1, 255, 256, 257, 4096, 1 << 20}) {
      try (OffHeapBuffer memory = OffHeapBuffer.allocate(bytes)) {
        ByteBuffer buffer = memory.buffer();
        assertThat(buffer.capacity()).isEqualTo(bytes);
        assertThat(buffer.position()).isZero();
        assertThat(buffer.limit()).isEqualTo(bytes);
        assertThat(buffer.isDirect()).isTrue();
        assertThat(buffer.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(buffer.alignmentOffset(0, OffHeapBuffer.ALIGNMENT_BYTES)).isZero();
        byte[] content = new byte[bytes];
        buffer.get(0, content);
        assertThat(content).isEqualTo(new byte[bytes]);
        for (int i = 0; i < bytes; i++) {
          buffer.put(i, (byte) i);
        }
        assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before + bytes);
      }
      assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
    }
  }

  @Test
  void closeIsIdempotentAndRejectsLaterUse() {
    long before = OffHeapBuffer.liveBytes();
    OffHeapBuffer memory = OffHeapBuffer.allocate(1000);
    memory.close();
    memory.close();
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
    assertThatThrownBy(memory::buffer)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("closed: OffHeapBuffer[1,000 bytes]");
  }

  private static OffHeap.Memory counted(AtomicInteger frees) {
    OffHeap.Memory memory = OffHeap.INSTANCE.allocate(100, OffHeapBuffer.ALIGNMENT_BYTES);
    return new OffHeap.Memory(
        memory.buffer(),
        () -> {
          frees.incrementAndGet();
          memory.free().run();
        });
  }

  @Test
  void freesTheMemoryIfPreparationOrReleaseFails() {
    long before = OffHeapBuffer.liveBytes();
    AtomicInteger frees = new AtomicInteger();
    IllegalStateException failure = new IllegalStateException("refused");
    Runnable fails =
        () -> {
          throw failure;
        };
    assertThatThrownBy(
            () ->
                OffHeapBuffer.of(
                    counted(frees),
                    memory -> {
                      fails.run();
                      return fails;
                    }))
        .isSameAs(failure);
    assertThat(frees).hasValue(1);
    OffHeapBuffer prepared = OffHeapBuffer.of(counted(frees), memory -> fails);
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before + 100);
    assertThatThrownBy(prepared::close).isSameAs(failure);
    prepared.close();
    assertThat(frees).hasValue(2);
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }

  @Test
  void rejectsSizesOutOfRange() {
    for (long bytes : new long[] {-1, Integer.MAX_VALUE - 255L, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> OffHeapBuffer.allocate(bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("%,d bytes outside [0, 2,147,483,391]".formatted(bytes));
    }
  }
}

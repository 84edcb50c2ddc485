package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Memory that somebody else may still write to. */
class GrowingBufferTest {
  @Test
  void whatIsAbandonedIsNeitherFreedNorUsedAgain() {
    long before = OffHeapBuffer.liveBytes();
    try (GrowingBuffer growing = new GrowingBuffer()) {
      ByteBuffer old = growing.ensure(10_000);
      OffHeapBuffer abandoned = growing.abandon();
      assertThat(growing.buffer().capacity()).isZero();

      ByteBuffer fresh = growing.ensure(10_000);
      old.putLong(0, -1); // what comes late
      assertThat(fresh.getLong(0)).isZero();
      growing.close();
      assertThat(OffHeapBuffer.liveBytes() - before).as("live bytes").isEqualTo(old.capacity());
      assertThat(abandoned.buffer().getLong(0)).isEqualTo(-1);
      abandoned.close();
    }
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }
}

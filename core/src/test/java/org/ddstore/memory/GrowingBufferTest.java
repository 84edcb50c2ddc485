// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Memory that somebody else may still write to. */
class GrowingBufferTest {
  @Test
  void neverFreesOrReusesAbandonedMemory() {
    long before = OffHeapBuffer.liveBytes();
    ByteBuffer old;
    OffHeapBuffer abandoned;
    try (GrowingBuffer growing = new GrowingBuffer()) {
      old = growing.ensure(10_000);
      abandoned = growing.abandon();
      assertThat(growing.buffer().capacity()).isZero();

      ByteBuffer fresh = growing.ensure(10_000);
      old.putLong(0, -1); // what comes late
      assertThat(fresh.getLong(0)).isZero();
    }
    try (abandoned) {
      assertThat(OffHeapBuffer.liveBytes() - before).as("live bytes").isEqualTo(old.capacity());
      assertThat(abandoned.buffer().getLong(0)).isEqualTo(-1);
    }
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }
}

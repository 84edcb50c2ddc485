// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.ddstore.types.DDStoreException;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
  private record Refusing(int device, RuntimeException refusal) implements DevicePinning {
    @Override
    public Runnable pin(ByteBuffer memory) {
      throw refusal;
    }

    @Override
    public void close() {
      // It holds nothing.
    }
  }

  @Test
  void fallsBackToPlainMemoryIfTheDriverRefuses() {
    long before = OffHeapBuffer.liveBytes();
    for (RuntimeException refusal :
        List.of(new DDStoreException("no more"), new IllegalStateException("closed: it"))) {
      HostMemory memory = HostMemory.of(new Refusing(3, refusal), "a driver");
      try (OffHeapBuffer buffer = memory.allocate(1)) {
        assertThat(buffer.buffer().capacity()).isEqualTo(4096);
        assertThat(memory.pinnedBytes()).isZero();
        assertThat(memory.description())
            .isEqualTo(
                "pinned for device 3 by a driver, except for some buffers: "
                    + refusal.getMessage());
      }
    }
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }

  @Test
  void namesTheDeviceInUse() {
    Refusing refusing = new Refusing(2, new DDStoreException("no"));
    assertThat(HostMemory.of(refusing, "a driver").description())
        .isEqualTo("pinned for device 2 by a driver");
  }
}

package org.ddstore.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.ddstore.DDStoreException;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
  /** As a driver that refuses. */
  private record Refusing(RuntimeException refusal) implements DevicePinning {
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
  void whatTheDriverRefusesOrHasClosedIsPlainMemory() {
    long before = OffHeapBuffer.liveBytes();
    for (RuntimeException refusal :
        List.of(new DDStoreException("no more"), new IllegalStateException("closed: it"))) {
      HostMemory memory = new HostMemory(new Refusing(refusal), "pinned");
      try (OffHeapBuffer buffer = memory.allocate(1)) {
        assertThat(buffer.buffer().capacity()).isEqualTo(4096);
        assertThat(memory.pinnedBytes()).isZero();
        assertThat(memory.description())
            .isEqualTo("pinned, but not all of it: " + refusal.getMessage());
      }
    }
    assertThat(OffHeapBuffer.liveBytes()).isEqualTo(before);
  }
}

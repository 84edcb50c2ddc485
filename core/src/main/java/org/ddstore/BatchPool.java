package org.ddstore;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.ddstore.types.Cleanup;

/**
 * A pool of the idle batch memory of one reader. Any thread may return memory, even after the pool
 * is closed; it is then freed.
 */
final class BatchPool implements AutoCloseable {
  private static final int MAX_IDLE = 4;

  private final Projection fields;
  private final Deque<BatchMemory> idle = new ArrayDeque<>();
  private boolean closed;

  BatchPool(Projection fields) {
    this.fields = fields;
  }

  Batch take() {
    BatchMemory memory;
    synchronized (idle) {
      memory = idle.pollLast();
    }
    return new Batch(this, memory == null ? new BatchMemory(fields) : memory);
  }

  void giveBack(BatchMemory memory) {
    synchronized (idle) {
      if (!closed && idle.size() < MAX_IDLE) {
        idle.addLast(memory);
        return;
      }
    }
    memory.free();
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      List<BatchMemory> all = List.copyOf(idle);
      idle.clear();
      Cleanup.runAll(all.stream().map(memory -> memory::free));
    }
  }
}

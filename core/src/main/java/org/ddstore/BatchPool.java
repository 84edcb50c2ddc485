package org.ddstore;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.ddstore.types.Cleanup;

/**
 * The idle memory of one reader's batches. It may be given back by any thread, also after the pool
 * was closed: its memory is then freed.
 */
final class BatchPool implements AutoCloseable {
  private static final int MOST_IDLE = 4;

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
      if (!closed && idle.size() < MOST_IDLE) {
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

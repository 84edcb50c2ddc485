package org.ddstore;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The idle batches of one reader. A batch may be given back by any thread, also after the pool was
 * closed: its memory is then freed.
 */
final class BatchPool implements AutoCloseable {
  private static final int MOST_IDLE = 4;

  private final Schema schema;
  private final int[] fields;
  private final Deque<Batch> idle = new ArrayDeque<>();
  private boolean closed;

  BatchPool(Schema schema, int... fields) {
    this.schema = schema;
    this.fields = fields;
  }

  Batch take() {
    synchronized (idle) {
      Batch batch = idle.pollLast();
      if (batch != null) {
        batch.open();
        return batch;
      }
    }
    return new Batch(this, schema, fields);
  }

  void giveBack(Batch batch) {
    synchronized (idle) {
      if (!closed && idle.size() < MOST_IDLE) {
        idle.addLast(batch);
        return;
      }
    }
    batch.free();
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      idle.forEach(Batch::free);
      idle.clear();
    }
  }
}

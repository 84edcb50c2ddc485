// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The batches of one epoch, for a single iteration. Each batch is valid until the next is
 * requested; use {@link Loader#pop} for batches that must live longer. The loop may be left early:
 * the next epoch, or the close of the loader, discards the rest.
 */
public final class EpochLoop implements Iterable<LoadedBatch> {
  private final Loader loader;
  private final EpochProgress progress;
  private LoadedBatch last;

  EpochLoop(Loader loader, EpochProgress progress) {
    this.loader = loader;
    this.progress = progress;
  }

  /** Returns the iterator; a second iteration continues where the first stopped. */
  @Override
  public Iterator<LoadedBatch> iterator() {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        if (remaining() > 0) {
          return true;
        }
        closeLast();
        loader.loopEnded(EpochLoop.this);
        return false;
      }

      @Override
      public LoadedBatch next() {
        return EpochLoop.this.next();
      }
    };
  }

  /** {@return the number of batches still to come} */
  public long remaining() {
    return progress.remaining();
  }

  /**
   * {@return the next batch and closes the previous one}
   *
   * @throws org.ddstore.types.PoolStarvedException if no batch is ready within the loader's
   *     timeout; another call continues to wait
   */
  public LoadedBatch next() {
    closeLast();
    if (remaining() == 0) {
      throw new NoSuchElementException("the epoch has no more batches");
    }
    last = loader.popFor(this);
    return last;
  }

  void closeLast() {
    if (last != null) {
      last.close();
      last = null;
    }
  }
}

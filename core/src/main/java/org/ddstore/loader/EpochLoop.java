package org.ddstore.loader;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The batches of one epoch, to be looped over once. Each is valid until the next is asked for: what
 * is to live longer is taken by {@link Loader#pop} instead. Leaving the loop early is fine: the
 * next epoch, or the close of the loader, forgets the rest.
 */
public final class EpochLoop implements Iterable<LoadedBatch> {
  private final Loader loader;
  private final EpochProgress progress;
  private LoadedBatch last;

  EpochLoop(Loader loader, EpochProgress progress) {
    this.loader = loader;
    this.progress = progress;
  }

  /** A second loop goes on where the first was left. */
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

  /** How many batches are still to come. */
  public long remaining() {
    return progress.remaining();
  }

  /**
   * The next batch; the one before is closed.
   *
   * @throws org.ddstore.types.PoolStarvedException if none is ready within the loader's time;
   *     asking again goes on waiting
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/**
 * A shuffle that reads blocks of neighbouring rows: the blocks are in random order, a number of
 * consecutive blocks form a window, and the rows within a window are shuffled. An incomplete block
 * comes last, and so does an incomplete window; the dropped end moves in each epoch.
 */
final class ChunkedSampler implements Sampler {
  private final long seed;
  private final int blockRows;
  private final int windowBlocks;

  ChunkedSampler(long seed, int blockRows, int windowBlocks) {
    this.seed = seed;
    this.blockRows = Checks.atLeastOne(blockRows, "blockRows");
    this.windowBlocks = Checks.atLeastOne(windowBlocks, "windowBlocks");
  }

  @Override
  public String describe() {
    return "chunked(%d, %dx%d)".formatted(seed, windowBlocks, blockRows);
  }

  private long windowRows() {
    return (long) blockRows * windowBlocks;
  }

  @Override
  public void checkBatch(long samples) {
    if (samples < 1 || windowRows() % samples != 0) {
      throw new IllegalArgumentException(
          "a batch of %,d rows does not divide a window of %d blocks of %d rows: use a divisor of %,d, or a windowBlocks for which windowBlocks x %d is a multiple of the batch"
              .formatted(samples, windowBlocks, blockRows, windowRows(), blockRows));
    }
  }

  @Override
  public boolean neverWaits() {
    return true;
  }

  @Override
  public SampleOrder order(Epoch epoch) {
    return new Order(epoch);
  }

  private final class Order implements SampleOrder {
    private final long rows;
    private final long read;
    private final long start;
    private final long windowKey;
    private final Permutation blocks;
    private Permutation window;
    private long windowNumber = -1;

    Order(Epoch epoch) {
      rows = epoch.samples();
      read = rows - epoch.dropped();
      start = epoch.drift();
      long key = KeyedHash.key(seed, epoch.number(), epoch.part());
      windowKey = KeyedHash.key(key, 1);
      blocks = Permutation.keyed(read / blockRows, KeyedHash.key(key, 0));
    }

    @Override
    public long size() {
      return rows;
    }

    @Override
    public long at(long position) {
      long row = (position < read ? rowAt(position) : position) + start;
      return row >= rows ? row - rows : row;
    }

    private long rowAt(long position) {
      long number = position / windowRows();
      long first = number * windowRows();
      if (number != windowNumber) {
        long size = Math.min(windowRows(), read - first);
        window = Permutation.keyed(size, KeyedHash.key(windowKey, number));
        windowNumber = number;
      }
      long place = first + window.at(position - first);
      long block = place / blockRows;
      long inBlock = place - block * blockRows;
      return (block < blocks.size() ? blocks.at(block) : block) * blockRows + inBlock;
    }
  }
}

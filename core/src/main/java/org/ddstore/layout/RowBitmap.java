// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.util.Arrays;

/**
 * A set of rows as one bit per row, with the number of rows before each block of {@value
 * #BLOCK_WORDS} words. Takes 1.125 bits per row up to the last row of the set.
 */
public final class RowBitmap implements RowSet {
  private static final int BLOCK_WORDS = 8;

  private final long[] words;
  private final long[] before;

  /**
   * @param words bit {@code row % 64} of word {@code row / 64} is set for each row; the last word
   *     is not 0; not copied
   */
  RowBitmap(long... words) {
    this.words = words;
    int blocks = (words.length + BLOCK_WORDS - 1) / BLOCK_WORDS;
    this.before = new long[blocks + 1];
    for (int block = 0; block < blocks; block++) {
      long count = before[block];
      int end = Math.min(words.length, (block + 1) * BLOCK_WORDS);
      for (int word = block * BLOCK_WORDS; word < end; word++) {
        count += Long.bitCount(words[word]);
      }
      before[block + 1] = count;
    }
  }

  @Override
  public long size() {
    return before[before.length - 1];
  }

  @Override
  public long end() {
    long last = words[words.length - 1];
    return (long) words.length * Long.SIZE - Long.numberOfLeadingZeros(last);
  }

  @Override
  public long row(long position) {
    int word = ExtentMap.lastAtMost(before, position) * BLOCK_WORDS;
    long left = position - before[word / BLOCK_WORDS];
    int count = Long.bitCount(words[word]);
    while (left >= count) {
      left -= count;
      word++;
      count = Long.bitCount(words[word]);
    }
    long bits = words[word];
    for (; left > 0; left--) {
      bits &= bits - 1;
    }
    return (long) word * Long.SIZE + Long.numberOfTrailingZeros(bits);
  }

  @Override
  public long nextRow(long from) {
    long next = next(from, 0);
    return next < (long) words.length * Long.SIZE ? next : NONE;
  }

  @Override
  public long nextGap(long from) {
    return next(from, -1);
  }

  /** Returns the first row at or after {@code from} whose bit differs from those of a word. */
  private long next(long from, long skipped) {
    if (from >= (long) words.length * Long.SIZE) {
      return from;
    }
    int word = (int) (from / Long.SIZE);
    long bits = (words[word] ^ skipped) & (-1L << from);
    while (bits == 0) {
      word++;
      if (word == words.length) {
        return (long) word * Long.SIZE;
      }
      bits = words[word] ^ skipped;
    }
    return (long) word * Long.SIZE + Long.numberOfTrailingZeros(bits);
  }

  @Override
  public long[] content() {
    return words;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowBitmap bitmap && Arrays.equals(bitmap.words, words);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(words);
  }
}

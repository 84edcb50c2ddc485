// SPDX-License-Identifier: Apache-2.0
package org.ddstore.layout;

import java.util.Arrays;

/**
 * A builder of a set of rows from ascending runs. It keeps runs or a bitmap, whichever is smaller,
 * so that a mask of many rows never takes much more memory than one bit per row. Equal sets are
 * built in equal form. Used by one thread.
 */
public final class RowSetBuilder {
  private static final int MIN_WORDS = 1 << 12;
  private static final int MAX_WORDS = Integer.MAX_VALUE - 8;
  private static final int HYSTERESIS = 4;

  private long[] bounds = new long[16]; // of runs; unused while there are words
  private long[] words; // null while there are bounds
  private long runs;
  private long end;

  /** Adds rows [first, next); {@code first} is at least the end of the rows before. */
  public void add(long first, long next) {
    if (first == next) {
      return;
    }
    boolean extendsLast = runs > 0 && first == end;
    if (!extendsLast) {
      runs++;
    }
    end = next;
    if (words != null && HYSTERESIS * 2 * runs < wordsUpTo(next)) {
      toBounds();
    }
    if (words == null) {
      addBounds(first, next, extendsLast);
    } else {
      setBits(first, next);
    }
  }

  private void addBounds(long first, long next, boolean extendsLast) {
    int used = Math.toIntExact(2 * runs);
    if (used > bounds.length) {
      if (used >= MIN_WORDS && used > wordsUpTo(next) && wordsUpTo(next) <= MAX_WORDS) {
        toWords(used - 2);
        setBits(first, next);
        return;
      }
      bounds = Arrays.copyOf(bounds, (int) Math.min(MAX_WORDS, 2L * bounds.length));
    }
    if (!extendsLast) {
      bounds[used - 2] = first;
    }
    bounds[used - 1] = next;
  }

  private void toWords(int used) {
    words = new long[(int) wordsUpTo(end)];
    for (int i = 0; i < used; i += 2) {
      setBits(bounds[i], bounds[i + 1]);
    }
    bounds = new long[0];
  }

  private void toBounds() {
    RowSet set = bitmap();
    words = null;
    bounds = bounds(set, Math.toIntExact(2 * runs));
  }

  private static long[] bounds(RowSet set, int length) {
    long[] bounds = new long[length];
    int used = 0;
    long first = set.nextRow(0);
    while (first != RowSet.NONE) {
      bounds[used++] = first;
      bounds[used++] = set.nextGap(first);
      first = set.nextRow(bounds[used - 1]);
    }
    return bounds;
  }

  private void setBits(long first, long next) {
    int last = (int) ((next - 1) / Long.SIZE);
    if (last >= words.length) {
      words = Arrays.copyOf(words, (int) Math.min(MAX_WORDS, Math.max(last + 1L, 2L * last)));
    }
    int word = (int) (first / Long.SIZE);
    long low = -1L << first;
    long high = -1L >>> -next;
    if (word == last) {
      words[word] |= low & high;
      return;
    }
    words[word] |= low;
    Arrays.fill(words, word + 1, last, -1L);
    words[last] |= high;
  }

  private static long wordsUpTo(long end) {
    return (end + Long.SIZE - 1) / Long.SIZE;
  }

  private RowBitmap bitmap() {
    int used = words.length;
    while (used > 0 && words[used - 1] == 0) {
      used--;
    }
    return new RowBitmap(used == words.length ? words : Arrays.copyOf(words, used));
  }

  /** Returns the set; the builder must not be used afterwards. */
  public RowSet build() {
    boolean smallerAsRuns = runs <= 1 || 2 * runs <= wordsUpTo(end) || wordsUpTo(end) > MAX_WORDS;
    if (words == null && !smallerAsRuns) {
      toWords(Math.toIntExact(2 * runs));
    }
    if (words == null) {
      return new RowRuns(Arrays.copyOf(bounds, Math.toIntExact(2 * runs)));
    }
    RowBitmap bitmap = bitmap();
    return smallerAsRuns ? new RowRuns(bounds(bitmap, Math.toIntExact(2 * runs))) : bitmap;
  }
}

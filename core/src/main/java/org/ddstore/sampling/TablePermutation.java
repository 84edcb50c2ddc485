// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A shuffle of few numbers by Fisher and Yates (Knuth, TAOCP 2, algorithm 3.4.2P). */
final class TablePermutation implements Permutation {
  private final char[] numbers;

  TablePermutation(int size, long key) {
    numbers = new char[size];
    for (int i = 0; i < size; i++) {
      int j = (int) KeyedHash.below(KeyedHash.word(key, i), i + 1);
      numbers[i] = numbers[j];
      numbers[j] = (char) i;
    }
  }

  @Override
  public long size() {
    return numbers.length;
  }

  @Override
  public long at(long position) {
    return numbers[(int) position];
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** The keyed permutation once more, in whole numbers without bounds and with a loop per round. */
final class NaivePermutation {
  private static final BigInteger WORD = BigInteger.ONE.shiftLeft(64);
  private static final BigInteger GOLDEN = new BigInteger("9E3779B97F4A7C15", 16);

  private NaivePermutation() {}

  static BigInteger unsigned(long word) {
    return new BigInteger(Long.toUnsignedString(word));
  }

  static BigInteger mix(BigInteger word) {
    BigInteger z = word.mod(WORD);
    z = z.xor(z.shiftRight(30)).multiply(new BigInteger("BF58476D1CE4E5B9", 16)).mod(WORD);
    z = z.xor(z.shiftRight(27)).multiply(new BigInteger("94D049BB133111EB", 16)).mod(WORD);
    return z.xor(z.shiftRight(31));
  }

  static BigInteger word(BigInteger key, long position) {
    return mix(key.add(GOLDEN.multiply(unsigned(position))));
  }

  static BigInteger below(BigInteger word, BigInteger bound) {
    return word.shiftRight(1).multiply(bound).shiftRight(63);
  }

  static BigInteger key(long seed, long... words) {
    BigInteger key = mix(unsigned(seed).add(GOLDEN));
    for (long word : words) {
      key = mix(key.add(GOLDEN).add(unsigned(word)));
    }
    return key;
  }

  static List<Long> table(int size, BigInteger key) {
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int place = below(word(key, i), BigInteger.valueOf(i + 1L)).intValueExact();
      if (place == i) {
        numbers.add((long) i);
      } else {
        numbers.add(numbers.get(place));
        numbers.set(place, (long) i);
      }
    }
    return numbers;
  }

  static long network(long size, BigInteger key, long position) {
    BigInteger n = BigInteger.valueOf(size);
    BigInteger a = n.sqrt();
    if (a.multiply(a).compareTo(n) < 0) {
      a = a.add(BigInteger.ONE);
    }
    BigInteger b = n.add(a).subtract(BigInteger.ONE).divide(a);
    BigInteger number = BigInteger.valueOf(position);
    do {
      BigInteger[] half = number.divideAndRemainder(b);
      BigInteger[] modulus = {a, b};
      for (int round = 0; round < 6; round++) {
        int changed = round % 2;
        BigInteger added = below(mix(half[1 - changed].xor(word(key, round))), modulus[changed]);
        half[changed] = half[changed].add(added).mod(modulus[changed]);
      }
      number = half[0].multiply(b).add(half[1]);
    } while (number.compareTo(n) >= 0);
    return number.longValueExact();
  }

  static long at(long size, BigInteger key, long position) {
    return size <= Permutation.MOST_IN_TABLE
        ? table((int) size, key).get((int) position)
        : network(size, key, position);
  }
}

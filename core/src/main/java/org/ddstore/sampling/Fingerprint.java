// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A 64-bit digest of the arguments of a sampler, the same in every JVM. */
final class Fingerprint {
  private Fingerprint() {}

  static String of(int... numbers) {
    long hash = numbers.length;
    for (int number : numbers) {
      hash = KeyedHash.key(hash, number);
    }
    return text(hash);
  }

  static String of(long... numbers) {
    return text(KeyedHash.key(numbers.length, numbers));
  }

  /** Returns the fingerprint of the bits of the numbers. */
  static String of(double... numbers) {
    long hash = numbers.length;
    for (double number : numbers) {
      hash = KeyedHash.key(hash, Double.doubleToLongBits(number));
    }
    return text(hash);
  }

  static String both(String first, String second) {
    return of(Long.parseUnsignedLong(first, 16), Long.parseUnsignedLong(second, 16));
  }

  private static String text(long hash) {
    return "%016x".formatted(hash);
  }
}

package org.ddstore.sampling;

/**
 * 64 bits that stand for what a sampler was given, in its description: the same in every JVM, and
 * different ones for different numbers but for one in 2^64.
 */
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

  /** By their bits. */
  static String of(double... numbers) {
    long hash = numbers.length;
    for (double number : numbers) {
      hash = KeyedHash.key(hash, Double.doubleToLongBits(number));
    }
    return text(hash);
  }

  /** Of two fingerprints together. */
  static String both(String first, String second) {
    return of(Long.parseUnsignedLong(first, 16), Long.parseUnsignedLong(second, 16));
  }

  private static String text(long hash) {
    return "%016x".formatted(hash);
  }
}

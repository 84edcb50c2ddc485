package org.ddstore.sampling;

/**
 * A permutation in constant memory: a Feistel network of six rounds over pairs of [0, a) x [0, b)
 * with a = ceil(sqrt(size)) and b = ceil(size / a), so that a * b exceeds the size by less than a.
 * Numbers outside are sent through again until one is inside (cycle walking: Black and Rogaway,
 * 2002), which is rare: the cost does not jump where the size passes a power of two.
 */
final class FeistelPermutation implements Permutation {
  static final long MAX_SIZE = 1L << 61;

  private final long size;
  private final long a;
  private final long b;
  private final long key0;
  private final long key1;
  private final long key2;
  private final long key3;
  private final long key4;
  private final long key5;

  FeistelPermutation(long size, long key) {
    this.size = size;
    this.a = ceilSqrt(size);
    this.b = (size + a - 1) / a;
    key0 = KeyedHash.word(key, 0);
    key1 = KeyedHash.word(key, 1);
    key2 = KeyedHash.word(key, 2);
    key3 = KeyedHash.word(key, 3);
    key4 = KeyedHash.word(key, 4);
    key5 = KeyedHash.word(key, 5);
  }

  private static long ceilSqrt(long number) {
    long root = (long) Math.sqrt((double) number);
    while (root * root >= number) {
      root--;
    }
    while (root * root < number) {
      root++;
    }
    return root;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public long at(long position) {
    long number = position;
    do {
      long left = number / b;
      long right = number - left * b;
      left = add(left, right ^ key0, a);
      right = add(right, left ^ key1, b);
      left = add(left, right ^ key2, a);
      right = add(right, left ^ key3, b);
      left = add(left, right ^ key4, a);
      right = add(right, left ^ key5, b);
      number = left * b + right;
    } while (number >= size);
    return number;
  }

  private static long add(long value, long keyed, long modulus) {
    long sum = value + KeyedHash.below(KeyedHash.mix(keyed), modulus);
    return sum >= modulus ? sum - modulus : sum;
  }
}

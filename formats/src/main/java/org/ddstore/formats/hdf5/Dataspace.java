// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

/** The dimensions of a data set or an attribute. */
final class Dataspace {
  private static final int NULL = 2;
  private static final int MAX_DIMENSIONS = 32;

  private final long[] shape;
  private final long[] maximum;

  private Dataspace(long[] shape, long... maximum) {
    this.shape = shape;
    this.maximum = maximum;
  }

  static Dataspace read(Cursor message) {
    int version = message.version("dataspace", 1, 2);
    int rank = message.u8();
    int flags = message.u8();
    if (rank > MAX_DIMENSIONS) {
      throw Hdf5Exception.damaged("%d dimensions, at most 32 are legal".formatted(rank));
    }
    if (version == 1) {
      message.skip(5);
    } else if (message.u8() == NULL) {
      return new Dataspace(new long[] {0}, 0);
    }
    long[] shape = lengths(message, rank);
    return new Dataspace(shape, (flags & 1) == 0 ? shape : lengths(message, rank));
  }

  private static long[] lengths(Cursor message, int rank) {
    long[] lengths = new long[rank];
    for (int i = 0; i < rank; i++) {
      lengths[i] = message.length();
    }
    return lengths;
  }

  /** {@return the dimensions; none for a single value} */
  long[] shape() {
    return shape;
  }

  /** {@return the largest dimensions; {@link Cursor#UNDEFINED} for those without a limit} */
  long[] maximum() {
    return maximum;
  }

  /**
   * {@return the size of all elements}
   *
   * @param elementBytes size of an element
   */
  long bytes(int elementBytes) {
    return product(elementBytes, shape);
  }

  /** {@return the product of sizes, which must be below 2^63} */
  static long product(long first, long... others) {
    long product = first;
    for (long factor : others) {
      long high = Math.multiplyHigh(product, factor);
      product *= factor;
      if (factor < 0 || high != 0 || product < 0) {
        throw Hdf5Exception.damaged("the elements have 2^63 bytes or more");
      }
    }
    return product;
  }
}

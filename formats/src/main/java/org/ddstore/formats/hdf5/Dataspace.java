// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

/**
 * The dimensions of a data set or an attribute.
 *
 * @param shape the dimensions; none for a single value
 * @param maximum the largest dimensions; {@link Cursor#UNDEFINED} for those without a limit
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Dataspace(long[] shape, long... maximum) {
  private static final int NULL = 2;
  private static final int MAX_DIMENSIONS = 32;

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

  /** {@return the size of all elements} */
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

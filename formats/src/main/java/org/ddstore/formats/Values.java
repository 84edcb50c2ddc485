// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The values of one column in consecutive rows, in memory. Numbers are in one array of the Java
 * type that Spark uses for the column ({@link ElementType#decode}); those of a BINARY column in a
 * {@code byte[]}, texts in a {@code String[]}. Immutable, if its creator does not change the
 * arrays. Not thread-safe.
 */
public final class Values {
  private final Supplier<Object> decoder;
  private final ByteBuffer packed;
  private final int rows;
  private final int width;
  private final int[] offsets;
  private final BitSet nulls;

  private Object data;

  private Values(Object data, int rows, int width, int[] offsets, BitSet nulls) {
    this(data, null, null, rows, width, offsets, nulls);
  }

  private Values(
      Object data,
      Supplier<Object> decoder,
      ByteBuffer packed,
      int rows,
      int width,
      int[] offsets,
      BitSet nulls) {
    this.data = data;
    this.decoder = decoder;
    this.packed = packed;
    this.rows = rows;
    this.width = width;
    this.offsets = offsets;
    this.nulls = nulls;
  }

  /**
   * {@return values of fixed shape}
   *
   * @param data array with {@code rows * width} elements
   * @param rows number of rows
   * @param width number of elements of one row, 1 for scalars
   */
  public static Values fixed(Object data, int rows, int width) {
    check(data, (long) rows * width);
    return new Values(data, rows, width, null, null);
  }

  /**
   * Returns values of fixed shape that are decoded when {@link #data()} is called.
   *
   * @param packed little-endian elements from position to limit
   * @param decoder decodes all of them
   */
  static Values packed(ByteBuffer packed, Supplier<Object> decoder, int rows, int width) {
    return new Values(null, decoder, packed, rows, width, null, null);
  }

  /**
   * {@return values of varying length}
   *
   * @param data array with {@code offsets[rows]} elements
   * @param offsets index of the first element of each row, ascending from 0, and the number of
   *     elements at the end
   */
  public static Values ragged(Object data, int... offsets) {
    check(data, offsets[offsets.length - 1]);
    return new Values(data, offsets.length - 1, 0, offsets, null);
  }

  /**
   * {@return one text per row; null elements are null values}
   *
   * @param texts one text per row
   */
  public static Values texts(String... texts) {
    BitSet nulls = new BitSet();
    for (int i = 0; i < texts.length; i++) {
      nulls.set(i, texts[i] == null);
    }
    return new Values(texts, texts.length, 1, null, nulls);
  }

  /**
   * {@return a copy, whose rows in {@code nulls} are null}
   *
   * @param nulls rows that are null
   */
  public Values nulls(BitSet nulls) {
    return new Values(data(), rows, width, offsets, Objects.requireNonNull(nulls, "nulls is null"));
  }

  private static void check(Object data, long elements) {
    int found = java.lang.reflect.Array.getLength(data);
    if (found < elements) {
      throw new IllegalArgumentException(
          "%,d elements, fewer than the %,d of all rows".formatted(found, elements));
    }
  }

  /** {@return the number of rows} */
  public int rows() {
    return rows;
  }

  /** {@return the array of elements, not a copy} */
  public Object data() {
    if (data == null) {
      data = decoder.get();
    }
    return data;
  }

  /**
   * {@return the elements of all rows side by side, little-endian, from position to limit, not to
   * be changed; null for texts, for ragged values and if there may be nulls}
   */
  public ByteBuffer packed() {
    if (offsets != null || nulls != null) {
      return null;
    }
    return packed == null ? PackedElements.of(data, rows * width) : packed.duplicate();
  }

  /**
   * {@return the index of the first element of a row}
   *
   * @param row index of the row, from 0
   */
  public int start(int row) {
    return offsets == null ? row * width : offsets[row];
  }

  /**
   * {@return the number of elements of a row}
   *
   * @param row index of the row, from 0
   */
  public int length(int row) {
    return offsets == null ? width : offsets[row + 1] - offsets[row];
  }

  /**
   * {@return whether the value of a row is null}
   *
   * @param row index of the row, from 0
   */
  public boolean isNull(int row) {
    return nulls != null && nulls.get(row);
  }

  /** {@return whether the value of a row is null, of any row} */
  public boolean hasNull() {
    return nulls != null && !nulls.isEmpty();
  }
}

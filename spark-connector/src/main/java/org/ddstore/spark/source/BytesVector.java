// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.lang.ref.Reference;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** A column of text or binary values. */
final class BytesVector extends FieldVector {
  private final Places places;
  private final int[] counts;
  private final int length;
  private final boolean lasting;

  /**
   * @param counts number of bytes by row; null if all rows have {@code length}
   * @param lasting whether the memory is unchanged until the task ends, so that text is not copied
   */
  BytesVector(DataType type, Places places, int[] counts, int length, boolean lasting) {
    super(type);
    this.places = places;
    this.counts = counts;
    this.length = length;
    this.lasting = lasting;
  }

  private int bytes(int row) {
    return counts == null ? length : counts[row];
  }

  @Override
  public UTF8String getUTF8String(int row) {
    return lasting
        ? UTF8String.fromAddress(null, places.at(row), bytes(row))
        : UTF8String.fromBytes(getBinary(row));
  }

  @Override
  public byte[] getBinary(int row) {
    byte[] copy = new byte[bytes(row)];
    try {
      Platform.copyMemory(null, places.at(row), copy, Platform.BYTE_ARRAY_OFFSET, copy.length);
      return copy;
    } finally {
      Reference.reachabilityFence(places); // other reads are single instructions
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;
import org.ddstore.types.Internal;

/** The packed records of a variable, in the layout of {@link org.ddstore.types.Schema}. */
@Internal
public final class PackedRows {
  private PackedRows() {}

  /**
   * Passes each record of rows [firstRow, firstRow + count) to a consumer, in order. Remote rows
   * come by one-sided reads, in windows of bounded memory. Blocks.
   *
   * @param source variable to read
   * @param firstRow global index of the first row
   * @param count number of rows
   * @param taker receives a little-endian buffer with one record from position to limit, which is
   *     valid during the call only
   * @throws IndexOutOfBoundsException if the variable does not have all these rows
   */
  public static void forEach(
      Variable source, long firstRow, long count, Consumer<ByteBuffer> taker) {
    Objects.requireNonNull(source, "source is null");
    Objects.requireNonNull(taker, "taker is null");
    try (RowCopy copy = new RowCopy(source)) {
      copy.copy(firstRow, count, taker);
    }
  }
}

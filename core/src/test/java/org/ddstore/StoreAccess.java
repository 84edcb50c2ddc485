// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.ddstore.memory.Segment;
import org.ddstore.read.Placement;

/** Lets tests of other packages hold a store in states that last too short to be met by chance. */
public final class StoreAccess {
  private StoreAccess() {}

  /** Marks this rank's rows as being changed: their readers wait until {@link #endChange}. */
  public static void beginChange(Variable variable) {
    variable.ownSegments().forEach(Segment::beginChange);
  }

  /** Ends {@link #beginChange}. */
  public static void endChange(Variable variable) {
    variable.ownSegments().forEach(Segment::endChange);
  }

  /** Returns the placement of the rows of a variable, for reads without a {@link Reader}. */
  public static Placement placement(Variable variable) {
    return variable.placement();
  }

  /** Returns the number of reads of the variable's store that are in flight on this rank. */
  public static int readersInside(Variable variable) {
    return variable.gate().inside();
  }

  /** True once the close of the variable's store has begun on this rank. */
  public static boolean isClosed(Variable variable) {
    return variable.gate().isClosed();
  }

  /** Copies rows as a replica or a repair does; the taker gets each record, valid in the call. */
  public static void copy(Variable source, long firstRow, long count, Consumer<ByteBuffer> taker) {
    try (RowCopy copy = new RowCopy(source)) {
      copy.copy(firstRow, count, taker);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.ddstore.memory.Segment;
import org.ddstore.read.Placement;

/** Lets tests of other packages hold a store in states that last too short to be met by chance. */
public final class StoreAccess {
  private StoreAccess() {}

  public static void beginChange(Variable variable) {
    variable.ownSegments().forEach(Segment::beginChange);
  }

  public static void endChange(Variable variable) {
    variable.ownSegments().forEach(Segment::endChange);
  }

  public static Placement placement(Variable variable) {
    return variable.placement();
  }

  public static int readersInside(Variable variable) {
    return variable.gate().inside();
  }

  public static boolean isClosed(Variable variable) {
    return variable.gate().isClosed();
  }

  public static void copy(Variable source, long firstRow, long count, Consumer<ByteBuffer> taker) {
    try (RowCopy copy = new RowCopy(source)) {
      copy.copy(firstRow, count, taker);
    }
  }
}

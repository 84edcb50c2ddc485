// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.Iterator;
import org.ddstore.layout.ExtentMap;
import org.ddstore.memory.RowDigest;
import org.ddstore.memory.Segment;

/** The digest of a variable: the sum of the digests of the rows of each rank. */
final class StoreDigest {
  private StoreDigest() {}

  /** Returns the digest of all rows from those of {@link #ofRank} of all ranks. */
  static String sum(byte[]... parts) {
    RowDigest sum = new RowDigest();
    for (byte[] part : parts) {
      ByteBuffer halves = ByteBuffer.wrap(part);
      sum.add(halves.getLong(), halves.getLong());
    }
    return sum.toString();
  }

  /** Returns the digest of the rows of this rank, for {@link #sum}; reads all of them. */
  static byte[] ofRank(DDStore store, Variable variable) {
    RowDigest digest = new RowDigest();
    if (variable.isAdopted()) {
      addAdopted(digest, variable, store.rank());
      return bytesOf(digest);
    }
    ExtentMap extents = variable.placement().extents();
    store.inside(
        () -> {
          Iterator<Segment> own = variable.ownSegments().iterator();
          for (int e = 0; e < extents.extents(); e++) {
            if (extents.rank(e) == store.rank()) {
              digest.add(extents.firstRow(e), own.next());
            }
          }
        });
    return bytesOf(digest);
  }

  /** Adds adopted rows by reading them, because their memory may be in another process. */
  private static void addAdopted(RowDigest digest, Variable variable, int rank) {
    ExtentMap extents = variable.placement().extents();
    try (RowCopy copy = new RowCopy(variable)) {
      for (int e = 0; e < extents.extents(); e++) {
        if (extents.rank(e) == rank) {
          long[] next = {extents.firstRow(e)};
          copy.copy(
              next[0],
              extents.rows(e),
              row -> digest.add(next[0]++, row, row.position(), row.remaining()));
        }
      }
    }
  }

  private static byte[] bytesOf(RowDigest digest) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(digest.high()).putLong(digest.low()).array();
  }
}

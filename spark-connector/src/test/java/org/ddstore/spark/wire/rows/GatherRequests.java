// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.nio.ByteBuffer;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.connection.Handshake;

/** Gather requests byte by byte, also such as no reader sends. */
public final class GatherRequests {
  private GatherRequests() {}

  /**
   * A request for runs of rows of one segment.
   *
   * @param runs first row and rows of each
   */
  public static ByteBuffer of(
      Nonce store, boolean lengths, int skip, int bytes, Nonce segment, long... runs) {
    int length =
        GatherRequest.HEADER_BYTES
            + GatherRequest.SEGMENT_BYTES
            + runs.length / 2 * GatherRequest.RUN_BYTES;
    ByteBuffer out = ByteBuffer.allocate(length).put(GatherRequest.GATHER);
    Handshake.putStore(out, store);
    out.put((byte) (lengths ? 1 : 0)).putInt(skip).putInt(bytes).putInt(1);
    Handshake.putStore(out, segment);
    long rows = 0;
    for (int r = 0; r < runs.length; r += 2) {
      rows += runs[r + 1];
    }
    out.putInt(runs.length / 2).putInt((int) rows);
    for (int r = 0; r < runs.length; r += 2) {
      out.putLong(runs[r]);
    }
    for (int r = 0; rows != runs.length / 2 && r < runs.length; r += 2) {
      out.putInt((int) runs[r + 1]);
    }
    return out.flip();
  }
}

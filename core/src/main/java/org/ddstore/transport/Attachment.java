// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.util.function.Supplier;
import org.ddstore.memory.Segment;
import org.ddstore.types.ReadPath;

/**
 * A segment that this process can read.
 *
 * @param segment segment with one reference, or null if it is remote
 * @param remote remote segment, or null if it is in local memory
 * @param path path to its rows
 * @param reason formats the human-readable reason for this path; a text per extent would be most of
 *     the memory that a store of many ranks takes in each of them
 */
public record Attachment(
    Segment segment, RemoteSegment remote, ReadPath path, Supplier<String> reason) {
  static Attachment local(Segment segment, ReadPath path, Supplier<String> reason) {
    return new Attachment(segment, null, path, reason);
  }

  static Attachment remote(RemoteSegment remote, Supplier<String> reason) {
    return new Attachment(null, remote, ReadPath.REMOTE, reason);
  }

  public boolean isRagged() {
    return segment == null ? remote.recordBytes() == 0 : !segment.schema().isFixed();
  }

  public void release() {
    if (segment != null) {
      segment.release();
    }
  }
}

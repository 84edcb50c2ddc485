package org.ddstore.transport;

import org.ddstore.memory.Segment;
import org.ddstore.types.ReadPath;

/**
 * A segment that this process can read.
 *
 * @param segment with one reference to it, or null if it is remote
 * @param remote null if memory reaches it
 * @param path how its rows are reached
 * @param reason why this path, for people
 */
public record Attachment(Segment segment, RemoteSegment remote, ReadPath path, String reason) {
  static Attachment local(Segment segment, ReadPath path, String reason) {
    return new Attachment(segment, null, path, reason);
  }

  static Attachment remote(RemoteSegment remote, String reason) {
    return new Attachment(null, remote, ReadPath.REMOTE, reason);
  }

  /** True if the records have ragged fields. */
  public boolean isRagged() {
    return segment == null ? remote.recordBytes() == 0 : !segment.schema().isFixed();
  }

  /** Gives the reference back. */
  public void release() {
    if (segment != null) {
      segment.release();
    }
  }
}

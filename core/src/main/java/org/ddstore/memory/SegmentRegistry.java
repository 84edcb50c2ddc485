// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.util.concurrent.ConcurrentHashMap;

/** The segments that this JVM owns or has mapped, by nonce; its ranks share one mapping. */
final class SegmentRegistry {
  private static final ConcurrentHashMap<Nonce, Segment> SEGMENTS = new ConcurrentHashMap<>();

  private SegmentRegistry() {}

  static void publish(Segment segment) {
    SEGMENTS.put(segment.nonce(), segment);
  }

  /** Returns the segment with one more reference for the caller, or null. */
  static Segment find(Nonce nonce) {
    Segment segment = SEGMENTS.get(nonce);
    return segment != null && segment.retain() ? segment : null;
  }

  static void forget(Segment segment) {
    SEGMENTS.remove(segment.nonce(), segment);
  }

  static int size() {
    return SEGMENTS.size();
  }
}

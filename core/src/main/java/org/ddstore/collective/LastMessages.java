// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.memory.Nonce;

/**
 * The last messages of closed lanes. A rank may close right after a collective, while the message
 * that completes it for another rank was lost with its connection. Bounded; the oldest are evicted
 * first.
 */
final class LastMessages {
  private static final int MAX_BYTES = 8 << 20;

  private final Map<Nonce, List<ByteBuffer>> messages = new LinkedHashMap<>();
  private int bytes;

  /** Retires a lane and keeps its last messages. */
  synchronized void add(OwnLane lane) {
    List<ByteBuffer> last = lane.retire();
    messages.put(lane.nonce(), last);
    bytes += bytes(last);
    Iterator<List<ByteBuffer>> oldest = messages.values().iterator();
    while (bytes > MAX_BYTES) {
      bytes -= bytes(oldest.next());
      oldest.remove();
    }
  }

  /** Returns the messages of a lane; empty if the lane is unknown or was evicted. */
  synchronized List<ByteBuffer> of(Nonce lane) {
    return messages.getOrDefault(lane, List.of());
  }

  private static int bytes(List<ByteBuffer> messages) {
    return messages.stream().mapToInt(ByteBuffer::remaining).sum();
  }
}

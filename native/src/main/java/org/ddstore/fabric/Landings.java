package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.IdentityHashMap;

/** Memory that one reader reads into, registered at its end once and then used again. */
final class Landings {
  private final IdentityHashMap<Object, Landing> known = new IdentityHashMap<>();

  private record Landing(ReadingEnd end, int region, long address, int bytes) {}

  /**
   * The number by which reads name memory.
   *
   * @param owner whose memory it is: one at a time each
   */
  int regionOf(Object owner, ByteBuffer memory, ReadingEnd end) {
    long address = FabricNative.addressOf(memory);
    Landing landing = known.get(owner);
    if (landing == null || landing.address != address || landing.bytes != memory.capacity()) {
      forget(owner);
      landing = new Landing(end, end.addLanding(memory), address, memory.capacity());
      known.put(owner, landing);
    }
    return landing.region;
  }

  /** The memory of an owner is about to be freed. */
  void forget(Object owner) {
    Landing landing = known.remove(owner);
    if (landing != null) {
      landing.end.removeLanding(landing.region);
    }
  }

  /** The end is about to be used by another reader. */
  void removeAll() {
    known.values().forEach(landing -> landing.end.removeLanding(landing.region));
    known.clear();
  }

  /** The end has been closed, and all its registrations with it. */
  void endHasClosed() {
    known.clear();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.IdentityHashMap;

/** The memory that one reader reads into, registered once at its endpoint and then reused. */
final class LandingMemory {
  private final IdentityHashMap<Object, Landing> known = new IdentityHashMap<>();

  private record Landing(ReadingEndpoint end, int region, long address, int bytes) {}

  /**
   * Returns the number by which reads refer to the memory.
   *
   * @param owner owner of the memory; one memory per owner at a time
   */
  int regionOf(Object owner, ByteBuffer memory, ReadingEndpoint end) {
    long address = FabricNative.addressOf(memory);
    Landing landing = known.get(owner);
    if (landing == null || landing.address != address || landing.bytes != memory.capacity()) {
      forget(owner);
      landing = new Landing(end, end.addLanding(memory), address, memory.capacity());
      known.put(owner, landing);
    }
    return landing.region;
  }

  /** Removes the memory of an owner, which is about to be freed. */
  void forget(Object owner) {
    Landing landing = known.remove(owner);
    if (landing != null) {
      landing.end.removeLanding(landing.region);
    }
  }

  /** Removes all memory before the endpoint is used by another reader. */
  void removeAll() {
    known.values().forEach(landing -> landing.end.removeLanding(landing.region));
    known.clear();
  }

  /** Discards all registrations, which ended with the closed endpoint. */
  void forgetAll() {
    known.clear();
  }
}

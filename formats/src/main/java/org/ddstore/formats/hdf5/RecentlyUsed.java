// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.hdf5;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that keeps the entries that were used last. */
final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;
  private static final float LOAD = 0.75f;

  private final int maxEntries;

  RecentlyUsed(int maxEntries) {
    super(maxEntries, LOAD, true);
    this.maxEntries = maxEntries;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > maxEntries;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Immutable values that this process holds once, although each of its ranks receives and parses the
 * same bytes. A value is kept as long as it is in use. Thread-safe.
 */
final class ContentCache<V> {
  private final Map<ByteBuffer, WeakReference<V>> values = new HashMap<>(); // guarded by this

  /** Returns the value of some contents: the one in use, or a new one. */
  V get(Supplier<V> parse, byte[]... contents) {
    ByteBuffer key = ByteBuffer.wrap(digest(contents));
    synchronized (this) {
      WeakReference<V> known = values.get(key);
      V value = known == null ? null : known.get();
      if (value == null) {
        value = parse.get();
        values.values().removeIf(reference -> reference.get() == null);
        values.put(key, new WeakReference<>(value));
      }
      return value;
    }
  }

  private static byte[] digest(byte[]... contents) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] content : contents) {
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, content.length));
        digest.update(content);
      }
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}

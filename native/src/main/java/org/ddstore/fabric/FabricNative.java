// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;

/**
 * The functions of {@code jni_fabric.c}. Handles are addresses; a negative result is a negative
 * errno of libfabric. Texts are UTF-8 and end with a zero byte. Only {@link FabricLibrary} and the
 * owners of handles call these.
 */
final class FabricNative {
  /** Number of texts per offer in {@link #offers}. */
  static final int OFFER_COLUMNS = 5;

  private FabricNative() {}

  /**
   * Loads the library.
   *
   * @param why receives the reason of a failure
   */
  static native long load(byte[] path, byte[] why);

  /** Returns the version: major in the upper 16 bits, minor in the lower. */
  static native int version(long library);

  static native void errorText(long library, int error, byte[] out);

  /** Returns provider, domain, fabric, address format and PCI device of each offer. */
  static native String[] offers(long library, byte[] node);

  static native long openServing(
      long library, byte[] provider, byte[] domain, byte[] node, byte[] failedCall);

  static native void closeServing(long end);

  static native int address(long end, byte[] out);

  static native int progress(long end, int timeoutMs);

  static native void wake(long end);

  static native long register(long end, long memory, long bytes, long key);

  static native int deregister(long region);

  static native long key(long region);

  static native long base(long end, long memory);

  static native long openReader(
      long library,
      byte[] provider,
      byte[] domain,
      byte[] node,
      long bytesInFlight,
      byte[] failedCall);

  static native void closeReader(long reader);

  static native int addPeer(long reader, byte[] address);

  static native int addSource(long reader, int peer, long key);

  static native int addLanding(long reader, long memory, long bytes);

  static native void removeLanding(long reader, int region);

  static native int begin(long reader, long reads, int count);

  static native int run(long reader, int timeoutMs);

  static native long bytesArrived(long reader);

  static native int trouble(long reader);

  static native void failureText(long reader, byte[] out);

  static native long addressOf(ByteBuffer buffer);
}

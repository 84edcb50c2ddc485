// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.nio.ByteBuffer;

/**
 * Memory of a device, and a stream of copies to it. Copies run asynchronously in the order of their
 * calls. An event marks a position in a stream; streams and threads wait for it. Addresses, events
 * and streams are the driver's handles. Any thread, except for {@link #close}.
 *
 * <p>Every method throws a {@link org.ddstore.types.DeviceException} if the driver refuses, or if
 * an earlier copy has failed; and {@link IllegalStateException} after {@link #close()}.
 */
public interface DeviceStream extends AutoCloseable {
  int device();

  long handle();

  /**
   * Allocates memory of the device, aligned to 256 bytes. May block until the device is idle.
   *
   * @param bytes size in bytes, at least 1
   * @return address on the device; the caller frees it
   */
  long allocate(long bytes);

  /** Frees memory of the device; nothing queued may use it. */
  void free(long address);

  /** Creates an event that counts as complete until it is recorded; the caller destroys it. */
  long createEvent();

  void destroyEvent(long event);

  /**
   * Queues a copy of a buffer from position 0 to its limit. Blocks only if the buffer is not
   * pinned, until it may be changed. A pinned buffer must stay unchanged until the copy is done.
   *
   * @param target address on the device
   * @param source direct buffer
   */
  void copyIn(long target, ByteBuffer source);

  /**
   * Queues a copy into a buffer, from position 0 to its limit.
   *
   * @param target direct buffer
   * @param source address on the device
   */
  void copyOut(ByteBuffer target, long source);

  /** Queues a copy inside of the device on another stream. */
  void copyWithin(long target, long source, long bytes, long stream);

  void record(long event);

  /** Records an event after everything that is queued on another stream; 0 is the default one. */
  void record(long event, long stream);

  /** Lets this stream wait for the last record of an event. Does not block. */
  void await(long event);

  /** Lets another stream wait for the last record of an event; 0 is the default stream. */
  void await(long event, long stream);

  /** Returns whether the last record of an event is complete. Does not block. */
  boolean isDone(long event);

  /** Blocks until the last record of an event is complete. */
  void synchronize(long event);

  /** Blocks until everything that is queued on this stream is complete. */
  void synchronize();

  /** Destroys the stream, on which nothing may be queued. Idempotent. */
  @Override
  void close();
}

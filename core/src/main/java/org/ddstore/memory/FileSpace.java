// SPDX-License-Identifier: Apache-2.0
package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * The space of one file that is written sequentially: it is reserved in growing steps before the
 * writes and truncated to the written size at the end. If the system cannot reserve space, a write
 * fails when the file system is full. Used by one thread.
 */
public final class FileSpace {
  private static final int ZEROS_BYTES = 64 << 10;
  private static final long FIRST_STEP_BYTES = 1 << 20;
  private static final long MAX_STEP_BYTES = 16 << 20;

  /** A reserver that does nothing, for a missing library. */
  private static final SpaceReserver NONE = (file, from, bytes) -> false;

  private static final SpaceReserver RESERVER = reserver();

  private final Path path;
  private final FileChannel channel;
  private long reserved;
  private boolean able = true;

  private static SpaceReserver reserver() {
    try {
      return ServiceLoader.load(SpaceReserver.class, SpaceReserver.class.getClassLoader())
          .findFirst()
          .orElse(NONE);
    } catch (ServiceConfigurationError e) {
      return NONE; // files work without it; the doctor command reports why the library is missing
    }
  }

  /**
   * @param channel channel that is open for writing; the caller closes it
   */
  public FileSpace(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Reserves the beginning of an empty file, by writing zeros if the system cannot reserve. */
  public static void reserveAll(Path path, FileChannel channel, long bytes) throws IOException {
    if (RESERVER.reserve(path, 0, bytes)) {
      return;
    }
    for (long at = 0; at < bytes; ) {
      at += channel.write(ByteBuffer.allocate((int) Math.min(ZEROS_BYTES, bytes - at)), at);
    }
  }

  /**
   * Reserves the space of the first {@code end} bytes, if the system can reserve space.
   *
   * @throws IOException if the file system is full
   */
  void ensure(long end) throws IOException {
    if (!able || end <= reserved) {
      return;
    }
    long step = Math.max(FIRST_STEP_BYTES, Math.min(MAX_STEP_BYTES, reserved));
    try {
      reserveTo(Math.max(end, reserved + step));
    } catch (IOException e) {
      reserveTo(end); // the last rows may fit although a full step does not
    }
  }

  private void reserveTo(long end) throws IOException {
    able = RESERVER.reserve(path, reserved, end - reserved);
    reserved = end;
  }

  void cut(long bytes) throws IOException {
    if (channel.size() > bytes) {
      channel.truncate(bytes);
    }
  }
}

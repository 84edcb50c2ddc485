package org.ddstore.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * The space of one file that is written from its beginning on: reserved before it is written, in
 * steps that grow, and cut to what was written at the end. Where nothing can reserve, a write that
 * finds no room is the error. Used by one thread.
 */
public final class FileSpace {
  private static final int ZEROS_BYTES = 64 << 10;
  private static final long FIRST_STEP_BYTES = 1 << 20;
  private static final long MOST_STEP_BYTES = 16 << 20;

  /** Does nothing; stands for a reserver that is not there. */
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
      return NONE; // files are written nevertheless; doctor tells why the library is not there
    }
  }

  /**
   * @param channel open for writing; the caller closes it
   */
  public FileSpace(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /**
   * Reserves {@code bytes} from the beginning of a file on, by writing zeros where nothing else
   * can. For files that hold nothing yet.
   *
   * @throws IOException if there is no such space
   */
  public static void reserveAll(Path path, FileChannel channel, long bytes) throws IOException {
    if (RESERVER.reserve(path, 0, bytes)) {
      return;
    }
    for (long at = 0; at < bytes; ) {
      at += channel.write(ByteBuffer.allocate((int) Math.min(ZEROS_BYTES, bytes - at)), at);
    }
  }

  /**
   * Makes sure that the first {@code end} bytes have their space, if that can be done.
   *
   * @throws IOException if there is none
   */
  void ensure(long end) throws IOException {
    if (!able || end <= reserved) {
      return;
    }
    long step = Math.max(FIRST_STEP_BYTES, Math.min(MOST_STEP_BYTES, reserved));
    try {
      reserveTo(Math.max(end, reserved + step));
    } catch (IOException e) {
      reserveTo(end); // the last rows may have room where a step has none
    }
  }

  private void reserveTo(long end) throws IOException {
    able = RESERVER.reserve(path, reserved, end - reserved);
    reserved = end;
  }

  /** Gives back what lies behind the first {@code bytes}. */
  void cut(long bytes) throws IOException {
    if (channel.size() > bytes) {
      channel.truncate(bytes);
    }
  }
}

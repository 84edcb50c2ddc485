// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.ddstore.memory.SpaceReserver;

/** A space reserver that uses {@code posix_fallocate(3)}, if the library is loaded. */
public final class NativeSpaceReserver implements SpaceReserver {
  private static final int ENOSPC = 28;

  @Override
  public boolean reserve(Path file, long from, long bytes) throws IOException {
    if (!NativeLibrary.isLoaded()) {
      return false;
    }
    int result = reserveSpace((file + "\0").getBytes(StandardCharsets.UTF_8), from, bytes);
    if (result == -ENOSPC) {
      throw new IOException("No space left on device (for %,d bytes more)".formatted(bytes));
    }
    return result == 0; // a file system without support: writes allocate their space themselves
  }

  /** Returns 0 or -errno; the path ends with a zero byte. */
  private static native int reserveSpace(byte[] path, long from, long bytes);
}

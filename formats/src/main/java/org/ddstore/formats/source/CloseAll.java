// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.io.Closeable;
import java.io.IOException;

/** Closes several files, also if the close of one fails. */
public final class CloseAll {
  private CloseAll() {}

  /**
   * Closes all.
   *
   * @param files files; null in place of those that were never opened
   * @throws IOException the first failure, with the others suppressed
   */
  public static void of(Closeable... files) throws IOException {
    IOException failure = null;
    for (Closeable file : files) {
      try {
        if (file != null) {
          file.close();
        }
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}

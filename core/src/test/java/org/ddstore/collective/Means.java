// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.memory.ProcessDirectory;

/** The exchange of lanes in one process of a test, over files, messages or both. */
final class Means implements AutoCloseable {
  enum Kind {
    FILES,
    MESSAGES,
    MIXED
  }

  private final ProcessDirectory directory;
  private final SocketMessenger messenger;
  private final LaneExchange exchange;

  private Means(Kind kind, Path root) throws IOException {
    directory = kind == Kind.MESSAGES ? null : ProcessDirectory.acquire(root);
    messenger = kind == Kind.FILES ? null : SocketMessenger.open();
    exchange =
        switch (kind) {
          case FILES -> LaneExchange.overFiles(directory);
          case MESSAGES -> LaneExchange.overMessages(messenger);
          case MIXED -> LaneExchange.overFilesAndMessages(directory, messenger);
        };
  }

  static Means open(Kind kind, Path root) throws IOException {
    return new Means(kind, root);
  }

  LaneExchange exchange() {
    return exchange;
  }

  SocketMessenger messenger() {
    return messenger;
  }

  @Override
  public void close() {
    exchange.close();
    if (messenger != null) {
      messenger.close();
      if (!messenger.refused().isEmpty()) {
        throw new AssertionError("a message of ours was refused", messenger.refused().peek());
      }
    }
    if (directory != null) {
      directory.release();
    }
  }
}

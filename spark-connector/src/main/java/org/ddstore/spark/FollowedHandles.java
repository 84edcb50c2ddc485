// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that are kept up to date with the handles of a store, until {@link #end}. A file that
 * cannot be written is retried after 1 s, 2 s, 4 s and so on, at last each minute. Thread-safe.
 */
final class FollowedHandles {
  private static final Logger LOG = LoggerFactory.getLogger(FollowedHandles.class);
  private static final long FIRST_DELAY_MS = 1000;
  private static final long LAST_DELAY_MS = 60_000;

  private final Map<Path, HandleSource> files = new LinkedHashMap<>(); // guarded by this
  private final Set<Path> outdated = new HashSet<>(); // guarded by this
  private long delayMs = FIRST_DELAY_MS; // guarded by this
  private boolean waiting; // guarded by this
  private volatile boolean ended; // not guarded: the end does not wait for a write

  synchronized void add(Path path, HandleSource source) throws IOException {
    source.now().save(path);
    Path file = path.toAbsolutePath().normalize();
    files.put(file, source);
    outdated.remove(file);
  }

  /** Writes the present handles. A file that cannot be written is logged once, and retried. */
  synchronized void update() {
    files.forEach(this::write);
    delayMs = FIRST_DELAY_MS;
    retryLater();
  }

  /** Ends the updates. Does not block. */
  void end() {
    ended = true;
  }

  private void write(Path file, HandleSource source) {
    try {
      source.now().save(file);
      if (outdated.remove(file)) {
        LOG.info("handle {} is up to date again", file);
      }
    } catch (IOException | RuntimeException e) {
      if (!ended && outdated.add(file)) {
        LOG.warn("handle {} is not up to date, and is retried: {}", file, e.toString());
      }
    }
  }

  private void retryLater() {
    if (!ended && !waiting && !outdated.isEmpty()) {
      waiting = true;
      CompletableFuture.delayedExecutor(delayMs, TimeUnit.MILLISECONDS, FollowedHandles::start)
          .execute(this::retry);
      delayMs = Math.min(2 * delayMs, LAST_DELAY_MS);
    }
  }

  /** Starts a thread of its own, because a handle can wait for executors. */
  private static void start(Runnable action) {
    Thread thread = new Thread(action, "ddstore-handles");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void retry() {
    waiting = false;
    if (!ended) {
      Set.copyOf(outdated).forEach(file -> write(file, files.get(file)));
      retryLater();
    }
  }
}

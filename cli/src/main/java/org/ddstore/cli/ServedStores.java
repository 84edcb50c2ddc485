// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;

/**
 * Stores whose handles are in files until {@link #end()}. Adding and repairing write the files, and
 * hold the lock of this object.
 */
final class ServedStores {
  private static final Duration RETRY_PERIOD = Duration.ofSeconds(10);

  /** Less than the 30 s that Hadoop grants to the shutdown hooks of Spark. */
  private static final Duration MAX_END = Duration.ofSeconds(5);

  private final HandleFiles files;
  private final PrintWriter err;
  private final List<ResidentStore> stores = new CopyOnWriteArrayList<>();
  private volatile boolean hasEnded;
  private long nextRepairNs = System.nanoTime(); // guarded by this
  private String failure = ""; // last one that was reported, guarded by this

  ServedStores(HandleFiles files, PrintWriter err) {
    this.files = files;
    this.err = err;
  }

  /** Writes the handle of a store, now and after each repair. */
  synchronized void add(ResidentStore store, Path file) throws IOException {
    if (hasEnded) {
      throw new DDStoreException("store \"%s\": the command has ended".formatted(store.name()));
    }
    HandleFiles.checkReplaceable(file); // another program may have written it during the load
    stores.add(store);
    store.handle().save(file, true);
  }

  /** Loads the rows of executors that have ended again. A failure is reported, and tried again. */
  synchronized void repair() {
    if (System.nanoTime() - nextRepairNs < 0) {
      return;
    }
    for (ResidentStore store : stores) {
      if (!hasEnded && store.shards().stream().anyMatch(ResidentShard::isLost)) {
        repair(store);
      }
    }
  }

  private void repair(ResidentStore store) {
    try {
      store.repair();
      failure = "";
      err.printf(
          "ddstore: store \"%s\": the rows of an executor that has ended are loaded again%n",
          store.name());
    } catch (RuntimeException e) {
      nextRepairNs = System.nanoTime() + RETRY_PERIOD.toNanos();
      String report =
          "store \"%s\": rows of an executor that has ended cannot be loaded again: %s"
              .formatted(store.name(), e.getMessage());
      if (!hasEnded && !report.equals(failure)) {
        err.println("ddstore: " + report);
        failure = report;
      }
    }
  }

  /** Drops the stores and deletes the files. An executor that does not answer delays it by 5 s. */
  void end() {
    hasEnded = true;
    Thread dropping = new Thread(this::drop, "ddstore-serve-drop");
    dropping.setDaemon(true);
    dropping.start();
    try {
      dropping.join(MAX_END.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    files.delete();
  }

  private void drop() {
    stores.forEach(ResidentStore::drop); // a repair in progress fails
    synchronized (this) {
      stores.forEach(ResidentStore::drop);
    }
  }
}

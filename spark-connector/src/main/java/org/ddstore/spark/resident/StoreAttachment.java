// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.Variable;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.Cleanup;

/**
 * An attachment of this JVM to a state of a resident store, shared by its readers. Per state there
 * is one attachment whose reads count in the metrics, and one for readers that count themselves.
 */
public final class StoreAttachment {
  private static final Map<Key, StoreAttachment> OPEN = new HashMap<>(); // guarded by itself

  private record Key(Nonce store, long version, boolean isCounted) {}

  private final Key key;
  private final WireSession session;
  private final AttachedStore store;
  private final StoreMetrics.Watch watch;
  private int readers; // guarded by OPEN

  private StoreAttachment(Key key, StoreSnapshot snapshot) {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      throw new IllegalStateException(
          "cannot attach to store %s: this process is neither the driver nor an executor of Spark"
              .formatted(snapshot));
    }
    this.key = key;
    this.session = Wire.join(snapshot.token(), WireOptions.of(env, snapshot.settings().port()));
    AttachedStore attached = null;
    try {
      List<Catalog> copies = snapshot.catalogs();
      attached =
          AttachedStore.open(copies, session.forReaders(), snapshot.settings().storeOptions());
      this.watch =
          key.isCounted()
              ? StoreMetrics.watch(
                  snapshot,
                  StoreMetrics.ATTACHED,
                  ReaderCounters.of(attached.variable(StartedRank.ROWS), new LoaderWatch()))
              : () -> {};
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(attached == null ? () -> {} : attached::close, session::close));
      throw e;
    }
    this.store = attached;
  }

  /**
   * Returns the attachment whose reads count in the metrics, for one more reader. The first reader
   * attaches. Each reader must call {@link #leave()}.
   */
  public static StoreAttachment counted(StoreSnapshot snapshot) {
    return of(new Key(snapshot.token().id(), snapshot.version(), true), snapshot);
  }

  /** Returns the attachment of readers that count themselves, see {@link #counted}. */
  public static StoreAttachment uncounted(StoreSnapshot snapshot) {
    return of(new Key(snapshot.token().id(), snapshot.version(), false), snapshot);
  }

  private static StoreAttachment of(Key key, StoreSnapshot snapshot) {
    synchronized (OPEN) {
      StoreAttachment attachment = OPEN.get(key);
      if (attachment == null) {
        attachment = new StoreAttachment(key, snapshot);
        OPEN.put(key, attachment);
      }
      attachment.readers++;
      return attachment;
    }
  }

  public AttachedStore store() {
    return store;
  }

  Variable rows() {
    return store.variable(StartedRank.ROWS);
  }

  /** Removes one reader; the last one closes the attachment. */
  public void leave() {
    synchronized (OPEN) {
      if (--readers > 0) {
        return;
      }
      OPEN.remove(key);
    }
    try (session) {
      try {
        watch.close();
      } finally {
        store.close();
      }
    }
  }
}

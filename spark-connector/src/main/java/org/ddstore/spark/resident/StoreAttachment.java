package org.ddstore.spark.resident;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.StoreHandle;
import org.ddstore.spark.StoreReader;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.types.Cleanup;

/**
 * An attachment of this JVM to a state of a resident store, shared by its readers: one whose reads
 * are in the metrics, and one for those who count by themselves.
 */
final class StoreAttachment {
  private static final Map<Key, StoreAttachment> OPEN = new HashMap<>(); // guarded by itself

  private record Key(Nonce store, long version, boolean isCounted) {}

  private final Key key;
  private final WireSession session;
  private final AttachedStore store;
  private final StoreMetrics.Watch watch;
  private int readers; // guarded by OPEN

  private StoreAttachment(Key key, StoreHandle handle) {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      throw new IllegalStateException(
          "%s can be attached to in tasks and on the driver only: there is no Spark in this process"
              .formatted(handle));
    }
    this.key = key;
    this.session = Wire.join(handle.token(), WireOptions.of(env, handle.settings().port()));
    AttachedStore attached = null;
    try {
      List<Catalog> copies = handle.catalogs();
      attached = AttachedStore.open(copies, session.forReaders(), handle.settings().storeOptions());
      this.watch =
          key.isCounted()
              ? StoreMetrics.watch(
                  handle, "attached", attached.variable(RankContext.ROWS)::statistics)
              : () -> {};
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(attached == null ? () -> {} : attached::close, session::close));
      throw e;
    }
    this.store = attached;
  }

  /** A reader whose reads are in the metrics. The first one attaches. */
  static StoreReader counted(StoreHandle handle) {
    return of(new Key(handle.token().id(), handle.version(), true), handle);
  }

  /** A reader whose reads are not. */
  static StoreReader uncounted(StoreHandle handle) {
    return of(new Key(handle.token().id(), handle.version(), false), handle);
  }

  private static StoreReader of(Key key, StoreHandle handle) {
    synchronized (OPEN) {
      StoreAttachment attachment = OPEN.get(key);
      if (attachment == null) {
        attachment = new StoreAttachment(key, handle);
        OPEN.put(key, attachment);
      }
      attachment.readers++;
      return new StoreReader(attachment);
    }
  }

  AttachedStore store() {
    return store;
  }

  /** One reader less; the last one ends it. */
  void leave() {
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

package org.ddstore;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;

/**
 * A reader's handle on a store of which it is no rank: it owns no shard and takes no part in
 * collectives. It sees the rows that the catalog names; rows that {@link DDStore#epochBegin()}
 * changes appear in it, never torn; rows appended later need a new catalog.
 */
public final class AttachedStore extends ReadableStore {
  private final int ranks;

  private AttachedStore(int ranks, Transport transport, StoreOptions options) {
    super(transport, options);
    this.ranks = ranks;
  }

  /**
   * Attaches to a store. Local; the ranks are not asked. What is attached stays readable when the
   * ranks close the store, until this is closed.
   *
   * @throws DDStoreException if a segment cannot be reached from here, or its rank has closed the
   *     store; it says which and why
   */
  public static AttachedStore open(Catalog catalog, StoreOptions options) {
    return open(catalog, null, options);
  }

  /**
   * As {@link #open(Catalog, StoreOptions)}, also for segments that memory does not reach. Those
   * are readable until their rank closes the store.
   *
   * @param transport stays the caller's, who closes it after the store; null for memory alone
   */
  public static AttachedStore open(Catalog catalog, Transport transport, StoreOptions options) {
    AttachedStore store = new AttachedStore(catalog.ranks(), transport, options);
    try {
      catalog.entries().forEach(store::attach);
      return store;
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  private void attach(Catalog.Entry entry) {
    List<Attachment> attached = new ArrayList<>();
    List<SegmentAddress> segments = entry.segments();
    try {
      for (int i = 0; i < segments.size(); i++) {
        attached.add(segments.get(i).attach(i % ranks, entry.schema(), reach()));
      }
      Variable variable = newVariable(entry.name(), entry.schema());
      publish(
          variable,
          () -> {
            for (int i = 0; i < segments.size(); i += ranks) {
              variable.attach(segments.subList(i, i + ranks), attached.subList(i, i + ranks));
            }
          });
    } catch (RuntimeException | Error e) {
      attached.forEach(Attachment::release);
      throw e;
    }
  }

  /** Always -1: this is no rank. */
  @Override
  public int rank() {
    return -1;
  }

  @Override
  public int ranks() {
    return ranks;
  }

  @Override
  public String toString() {
    return "AttachedStore[of %d ranks, variables %s]".formatted(ranks, names());
  }
}

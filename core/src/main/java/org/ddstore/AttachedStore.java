package org.ddstore;

import java.util.List;
import java.util.Objects;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Internal;

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
  @Internal
  public static AttachedStore open(Catalog catalog, StoreOptions options) {
    Objects.requireNonNull(catalog, "catalog is null");
    Objects.requireNonNull(options, "options is null");
    return open(catalog, null, options);
  }

  /**
   * As {@link #open(Catalog, StoreOptions)}, also for segments that memory does not reach. Those
   * are readable until their rank closes the store.
   *
   * @param transport stays the caller's, who closes it after the store; null for memory alone
   */
  @Internal
  public static AttachedStore open(Catalog catalog, Transport transport, StoreOptions options) {
    Objects.requireNonNull(catalog, "catalog is null");
    Objects.requireNonNull(options, "options is null");
    return open(List.of(catalog), transport, options);
  }

  /**
   * As {@link #open(Catalog, Transport, StoreOptions)}, to a store of which there are several
   * copies. Each shard is read where it is nearest; a read that finds the process of a copy gone
   * goes on with another copy, and fails only when there is none.
   *
   * @param copies catalogs of equal variables, of equal rows in each shard; those that come first
   *     are preferred
   * @throws IllegalArgumentException if they are not copies of each other
   */
  @Internal
  public static AttachedStore open(
      List<Catalog> copies, Transport transport, StoreOptions options) {
    Objects.requireNonNull(copies, "copies is null");
    for (Object element : copies) {
      Objects.requireNonNull(element, "an element of copies is null");
    }
    Objects.requireNonNull(options, "options is null");
    List<SegmentCopies> variables = Catalog.join(copies);
    AttachedStore store = new AttachedStore(copies.get(0).ranks(), transport, options);
    try {
      variables.forEach(variable -> store.publish(variable, variable.attachAll(store.reach())));
      return store;
    } catch (RuntimeException | Error e) {
      store.close();
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

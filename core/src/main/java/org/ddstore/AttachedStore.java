// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.List;
import java.util.Objects;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Internal;

/**
 * A read-only handle on a store for a process that is not one of its ranks: it owns no shard and
 * takes no part in collectives. It sees the rows that the catalog names. Changes made by {@link
 * DDStore#epochBegin()} become visible and are never torn; rows appended later need a new catalog.
 */
public final class AttachedStore extends ReadableStore {
  private final int ranks;

  private AttachedStore(int ranks, Transport transport, StoreOptions options) {
    super(transport, options);
    this.ranks = ranks;
  }

  /**
   * Attaches to a store. Local: does not contact the ranks. Attached segments stay readable after
   * the ranks close the store, until this handle is closed.
   *
   * @param catalog locations of the rows
   * @param options time-outs of the store
   * @return the store; the caller closes it
   * @throws DDStoreException if a segment is unreachable from this process, or its rank has closed
   *     the store; the message names the segment and the reason
   */
  @Internal
  public static AttachedStore open(Catalog catalog, StoreOptions options) {
    Objects.requireNonNull(catalog, "catalog is null");
    Objects.requireNonNull(options, "options is null");
    return open(catalog, null, options);
  }

  /**
   * Attaches like {@link #open(Catalog, StoreOptions)}, and reads segments that cannot be mapped
   * over a transport. Those are readable until their rank closes the store.
   *
   * @param catalog locations of the rows
   * @param transport owned by the caller, who closes it after the store; null to read the memory of
   *     this host only
   * @param options time-outs of the store
   * @return the store; the caller closes it
   */
  @Internal
  public static AttachedStore open(Catalog catalog, Transport transport, StoreOptions options) {
    Objects.requireNonNull(catalog, "catalog is null");
    Objects.requireNonNull(options, "options is null");
    return open(List.of(catalog), transport, options);
  }

  /**
   * Attaches like {@link #open(Catalog, Transport, StoreOptions)}, to a store with several copies.
   * Each shard is read from its nearest copy. If the process that holds a copy has ended, the read
   * continues with another copy, and fails only when none is left.
   *
   * @param copies catalogs with equal variables and equal row counts in each shard, in order of
   *     preference
   * @param transport transport to segments that cannot be mapped
   * @param options time-outs of the store
   * @return the store; the caller closes it
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

  /** Returns -1, because this process is not a rank of the store. */
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

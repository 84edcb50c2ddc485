package org.ddstore.contract;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.ReadPath;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.transport.Transport;

/** What a rank of a scenario has: its group, and a second group that tests alone use. */
public final class RankEnv implements AutoCloseable {
  private final Communicator group;
  private final Communicator control;
  private final StoreOptions options;
  private final ReadPath pathToOthers;
  private final LingeringTransport transport;

  /**
   * @param group for the store
   * @param control of the same ranks, for the test itself, with a generous timeout
   * @param options for stores
   * @param pathToOthers how rows of other ranks are reached
   * @param transport for stores; null for memory alone
   */
  public RankEnv(
      Communicator group,
      Communicator control,
      StoreOptions options,
      ReadPath pathToOthers,
      Transport transport) {
    this.group = group;
    this.control = control;
    this.options = options;
    this.pathToOthers = pathToOthers;
    this.transport = transport == null ? null : new LingeringTransport(transport);
  }

  public int rank() {
    return group.rank();
  }

  public int ranks() {
    return group.size();
  }

  /** The group of the stores; a scenario may break it. */
  public Communicator group() {
    return group;
  }

  public StoreOptions options() {
    return options;
  }

  /** A new store over the group. Collective. */
  public DDStore open() {
    return open(options);
  }

  /** As {@link #open()}, with other options. */
  public DDStore open(StoreOptions other) {
    return DDStore.open(group, transport, other);
  }

  /** A reader that is no rank. Local. */
  public AttachedStore attach(Catalog catalog) {
    return AttachedStore.open(Catalog.parse(catalog.toBytes()), transport, options);
  }

  /** Whether rows stay readable when their rank has closed the store. */
  public boolean outlivesOwner() {
    return pathToOthers != ReadPath.REMOTE;
  }

  /** Waits for all ranks, not over the store's group. */
  public void meet() {
    control.barrier();
    if (transport != null) {
      transport.withdrawAll();
      control.barrier();
    }
  }

  /** Withdraws what is left, also of a scenario that failed. */
  @Override
  public void close() {
    if (transport != null) {
      transport.withdrawAll();
    }
  }

  /** Gives a number of each rank to all, not over the store's group. */
  public long[] tell(long mine) {
    byte[][] all = control.allGather(ByteBuffer.allocate(Long.BYTES).putLong(mine).array());
    return Arrays.stream(all).mapToLong(bytes -> ByteBuffer.wrap(bytes).getLong()).toArray();
  }

  /** How this rank is to reach the rows of rank {@code owner}. */
  public ReadPath pathTo(int owner) {
    return owner == rank() && options.shortcut() ? ReadPath.OWN_PROCESS : pathToOthers;
  }
}

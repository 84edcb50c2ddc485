// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.transport.Transport;
import org.ddstore.types.ReadPath;

/** The environment of a rank in a scenario: its group, and a meeting that only tests use. */
public class RankEnv implements AutoCloseable {
  private final Meeting meeting;
  private final Communicator group;
  private final LingeringTransport transport;
  private final StoreOptions options;
  private final IntFunction<ReadPath> paths;

  /**
   * @param group for the store; closed with this
   * @param transport for the store; null for memory alone. A subclass that creates one overrides
   *     {@link #close}
   * @param options for stores
   * @param paths how rows of each rank are reached, this one's own included
   */
  public RankEnv(
      Meeting meeting,
      Communicator group,
      Transport transport,
      StoreOptions options,
      IntFunction<ReadPath> paths) {
    this.meeting = meeting;
    this.group = group;
    this.transport = transport == null ? null : new LingeringTransport(transport);
    this.options = options;
    this.paths = paths;
  }

  public final int rank() {
    return meeting.rank();
  }

  public final int ranks() {
    return meeting.ranks();
  }

  /** The group of the stores; a scenario may break it. */
  public final Communicator group() {
    return group;
  }

  public final StoreOptions options() {
    return options;
  }

  /** A new store over the group. Collective. */
  public final DDStore open() {
    return open(options);
  }

  /** As {@link #open()}, with changed options. */
  public final DDStore open(StoreOptions changed) {
    return DDStore.open(group, transport, changed);
  }

  /** A reader that owns no shard. Local. */
  public final AttachedStore attach(Catalog catalog) {
    return AttachedStore.open(catalog, transport, options);
  }

  /** As above, of which there are copies. */
  public final AttachedStore attach(List<Catalog> copies) {
    return AttachedStore.open(copies, transport, options);
  }

  /** A shard that belongs to no store. Local. */
  public final Shard seal(ShardWriter writer) {
    return Shard.seal(writer, transport);
  }

  /** Returns the meeting in which this rank takes part; it works even if the group fails. */
  public final Meeting meeting() {
    return meeting;
  }

  /** Waits for all ranks, not over the store's group. */
  public final void meet() {
    meeting.tell(new byte[0]);
    if (transport != null) {
      transport.withdrawAll();
      meeting.tell(new byte[0]);
      released();
    }
  }

  /** Called when all ranks have withdrawn what they closed, for what takes all of them. */
  protected void released() {}

  /** Gives a number of each rank to all, not over the store's group. */
  public final long[] tell(long mine) {
    byte[][] all = meeting.tell(ByteBuffer.allocate(Long.BYTES).putLong(mine).array());
    return Arrays.stream(all).mapToLong(bytes -> ByteBuffer.wrap(bytes).getLong()).toArray();
  }

  /** Returns the path by which this rank must reach the rows of rank {@code owner}. */
  public final ReadPath pathTo(int owner) {
    return paths.apply(owner);
  }

  @Override
  public void close() {
    if (transport != null) {
      transport.withdrawAll(); // also what a scenario that failed has left
    }
    group.close();
  }
}

package org.ddstore.contract;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.DDStore;
import org.ddstore.ReadPath;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;

/** What a rank of a scenario has: its group, and a second group that tests alone use. */
public final class RankEnv {
  private final Communicator group;
  private final Communicator control;
  private final StoreOptions options;
  private final ReadPath pathToOthers;

  /**
   * @param group for the store
   * @param control of the same ranks, for the test itself, with a generous timeout
   * @param options for stores
   * @param pathToOthers how rows of other ranks are reached
   */
  public RankEnv(
      Communicator group, Communicator control, StoreOptions options, ReadPath pathToOthers) {
    this.group = group;
    this.control = control;
    this.options = options;
    this.pathToOthers = pathToOthers;
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
    return DDStore.open(group, options);
  }

  /** Waits for all ranks, not over the store's group. */
  public void meet() {
    control.barrier();
  }

  /** Gives a number of each rank to all, not over the store's group. */
  public long[] tell(long mine) {
    byte[][] all = control.allGather(ByteBuffer.allocate(Long.BYTES).putLong(mine).array());
    return Arrays.stream(all).mapToLong(bytes -> ByteBuffer.wrap(bytes).getLong()).toArray();
  }

  /** How this rank is to reach the rows of rank {@code owner}. */
  public ReadPath pathTo(int owner) {
    return owner == rank() ? ReadPath.OWN_PROCESS : pathToOthers;
  }
}

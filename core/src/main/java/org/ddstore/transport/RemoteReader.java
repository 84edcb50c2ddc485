// SPDX-License-Identifier: Apache-2.0
package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import org.ddstore.types.ProcessAddress;

/** A reader that fetches rows of other processes into memory of this one. One thread. */
public interface RemoteReader extends AutoCloseable {
  /** Starts the timeout, which covers all following fetches. */
  void begin();

  /**
   * Starts the timeout like {@link #begin()}, with a shorter limit for replaceable processes: a
   * fetch fails as at the timeout if nothing arrives from one of them for the given time. Readers
   * that cannot identify a silent process wait until the timeout.
   *
   * @param silence limit for a replaceable process without any data
   * @param replaceable tells whether other processes than those in the set can replace a silent one
   */
  default void begin(
      Duration silence, BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable) {
    begin();
  }

  /**
   * Fills the staging memory of each peer with its rows, none of them torn. Blocks until all rows
   * have arrived. After this method returns or throws, nothing writes to the staging memory.
   *
   * @throws org.ddstore.types.DeadlineExceededException if rows are missing after the timeout;
   *     silent processes that others can replace are then marked by {@link PeerRows#markSilent}
   * @throws org.ddstore.types.RankLostException if the process of a rank has ended
   * @throws org.ddstore.types.DDStoreException if a rank has closed the store or the thread is
   *     interrupted
   * @throws IllegalArgumentException if the ragged rows of one process exceed 2 GiB
   */
  void fetch(List<PeerRows> peers);

  /** Returns whether a running {@link #fetch} lacks rows of a process, or cannot tell. */
  default boolean awaits(ProcessAddress process) {
    return true;
  }

  /** Returns the off-heap memory of this reader in bytes, without its peers' staging memory. */
  default long memoryBytes() {
    return 0;
  }

  /** Releases the resources of the reader. Idempotent. */
  @Override
  void close();
}

package org.ddstore.transport;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.ddstore.types.ProcessAddress;

/** Brings rows of other processes into memory of this one. Used by one thread. */
public interface RemoteReader extends AutoCloseable {
  /** Starts the clock of the timeout, which is over all fetches that follow. */
  void begin();

  /**
   * As {@link #begin()}, and does not wait until the timeout for processes that others can stand in
   * for: a fetch fails as at the timeout when nothing has come of one of them for so long. Readers
   * that cannot tell who is silent wait until the timeout.
   *
   * @param replaceable asked when one is silent
   */
  default void begin(Duration silence, Predicate<ProcessAddress> replaceable) {
    begin();
  }

  /**
   * Fills the staging of each peer with its rows, none of them torn. Blocks until all are there.
   * Once this has returned or thrown, nothing writes to the staging any more.
   *
   * @throws org.ddstore.types.DeadlineExceededException if rows are missing after the timeout; if
   *     others can stand in for processes that are silent, {@link PeerRows#markSilent} says who
   *     these are
   * @throws org.ddstore.types.RankLostException if the process of a rank has ended
   * @throws org.ddstore.types.DDStoreException if a rank has closed the store or the thread is
   *     interrupted
   * @throws IllegalArgumentException if the ragged rows of one process exceed 2 GiB
   */
  void fetch(List<PeerRows> peers);

  /**
   * Whether rows of a process are missing in a {@link #fetch} that is under way; true where a
   * reader does not know. Any thread.
   */
  default boolean awaits(ProcessAddress process) {
    return true;
  }

  /** Memory outside the heap that it holds, in bytes, without the staging of its peers. */
  default long memoryBytes() {
    return 0;
  }

  /** Gives back what the reader holds. Idempotent. */
  @Override
  void close();
}

package org.ddstore.transport;

import java.util.List;

/** Brings rows of other processes into memory of this one. Used by one thread. */
public interface RemoteReader extends AutoCloseable {
  /** Starts the clock of the timeout, which is over all fetches that follow. */
  void begin();

  /**
   * Fills the staging of each peer with its rows, none of them torn. Blocks until all are there.
   * Once this has returned or thrown, nothing writes to the staging any more.
   *
   * @throws org.ddstore.DeadlineExceededException if rows are missing after the timeout
   * @throws org.ddstore.RankLostException if the process of a rank has ended
   * @throws org.ddstore.DDStoreException if a rank has closed the store or the thread is
   *     interrupted
   * @throws IllegalArgumentException if the ragged rows of one process exceed 2 GiB
   */
  void fetch(List<PeerRows> peers);

  /** Memory outside the heap that it holds, in bytes, without the staging of its peers. */
  default long memoryBytes() {
    return 0;
  }

  /** Gives back what the reader holds. Idempotent. */
  @Override
  void close();
}

package org.ddstore.mpi;

import java.time.Duration;
import org.ddstore.transport.Transport;

/**
 * One-sided reads between the ranks of one store by MPI windows. What others can read is there from
 * {@link #share} until {@link #release} or {@link #close}, because a window ends for all ranks
 * together.
 */
public interface MpiTransport extends Transport, AutoCloseable {
  /**
   * Frees what all ranks have withdrawn. Collective; blocks until all ranks have come. Harmless
   * after MPI was finalised.
   *
   * @throws org.ddstore.types.DeadlineExceededException if a rank does not come
   * @throws org.ddstore.types.DDStoreException if a rank closes this
   */
  void release();

  /**
   * Frees all windows and gives back the segments. The stores of all ranks are closed, and all
   * ranks close this, also when what they did has failed, but not necessarily at the same time:
   * what others may still read stays in memory until all have closed it, or the process ends. Waits
   * for that as long as {@code patience} says, or until the thread is interrupted; then a thread of
   * its own goes on with it, for the collective timeout: what others may read then is kept until
   * the process ends. Idempotent; harmless after MPI was finalised.
   */
  void close(Duration patience);

  /** Waits half a minute: for ranks that have all ended what they did. */
  @Override
  default void close() {
    close(Duration.ofSeconds(30));
  }
}

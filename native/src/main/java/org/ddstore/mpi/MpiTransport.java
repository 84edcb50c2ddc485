// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import org.ddstore.transport.Transport;

/**
 * A transport for one-sided reads between the ranks of one store by MPI windows. Shared memory
 * stays readable from {@link #share} until {@link #release} or {@link #close}, because a window
 * ends on all ranks together.
 */
public interface MpiTransport extends Transport, AutoCloseable {
  /**
   * Frees the segments that all ranks have withdrawn. Collective; blocks until all ranks have
   * called. Harmless after MPI was finalised.
   *
   * @throws org.ddstore.types.DeadlineExceededException if a rank does not call in time
   * @throws org.ddstore.types.DDStoreException if a rank closes this transport
   */
  void release();

  /**
   * Frees all windows and returns the segments. The stores of all ranks must be closed, and all
   * ranks must close this transport, also after a failure, but not necessarily at the same time:
   * memory that others can still read stays allocated until all have closed it, or the process
   * ends. Waits for that for at most {@code patience}, or until the thread is interrupted; then a
   * background thread continues for the collective timeout, and memory that others can still read
   * afterwards is kept until the process ends. Idempotent; harmless after MPI was finalised.
   */
  void close(Duration patience);

  /** Closes this transport, for ranks that all finish within about 30 seconds. */
  @Override
  default void close() {
    close(Duration.ofSeconds(30));
  }
}

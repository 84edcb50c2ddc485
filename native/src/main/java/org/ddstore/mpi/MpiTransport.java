package org.ddstore.mpi;

import org.ddstore.transport.Transport;

/**
 * One-sided reads between the ranks of one store by MPI windows. What others can read is there from
 * {@link #share} until {@link #release} or {@link #close}, because a window ends for all ranks
 * together.
 */
public interface MpiTransport extends Transport, AutoCloseable {
  /**
   * Frees what all ranks have withdrawn. Collective; blocks until all ranks have come.
   *
   * @throws org.ddstore.FrozenMembershipException if a rank does not come: the world is of no use
   *     any more
   */
  void release();

  /**
   * Frees all windows and gives back the segments. Collective: the stores of all ranks are closed,
   * and all ranks close this, also when what they did has failed. If a rank does not come, the
   * world is of no use any more, which the next join says, and the segments stay in memory until
   * the process ends. Idempotent; harmless after MPI was finalised.
   */
  @Override
  void close();
}

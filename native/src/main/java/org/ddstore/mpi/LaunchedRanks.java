// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.time.Duration;
import org.ddstore.collective.Communicator;

/** The ranks of an mpirun job, between the start and the end of MPI. */
public interface LaunchedRanks {
  /** Returns the communicator of all ranks; owned by this object. */
  Communicator communicator();

  /**
   * Waits by MPI for all ranks to call this method, also after collectives have broken. Collective.
   *
   * @return false if a rank did not come in time
   */
  boolean meet(Duration patience);

  /**
   * Closes the communicator and finalises MPI in this process. Collective; the stores of all ranks
   * must be closed.
   *
   * @return false if MPI could not be finalised: no MPI call is allowed any more, and mpirun ends
   *     the other processes when this one has ended
   */
  boolean end();
}

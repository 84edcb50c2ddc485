package org.ddstore.mpi;

import java.time.Duration;
import org.ddstore.collective.Communicator;

/** The ranks that mpirun has started, after MPI's start and before its end. */
public interface LaunchedRanks {
  /** Of all ranks; stays this one's. */
  Communicator communicator();

  /**
   * Waits by MPI for all ranks to call this, also if collectives are broken. Collective.
   *
   * @return false if some did not come in time
   */
  boolean meet(Duration patience);

  /**
   * Ends the communicator and MPI in this process. Collective; the stores of all ranks are closed.
   *
   * @return false if MPI could not be ended: nothing of it may be called again, and mpirun ends the
   *     other processes when this one has ended
   */
  boolean end();
}

package org.ddstore.mpi;

import org.ddstore.collective.Communicator;

/** What is compiled only where mpi.jar is; found by {@link java.util.ServiceLoader}. */
public interface MpiBinding {
  /** Open MPI's own text of its version. Loads its library; throws what is wrong with it. */
  String libraryVersion();

  /** See {@link Mpi#join}. */
  MpiTransport join(Communicator ranks, int color, MpiOptions options);

  /**
   * Starts MPI in a process that mpirun has started, and brings its ranks together. Collective over
   * all of them. If it fails, the process has to end.
   */
  LaunchedRanks launch(Launch launch, MpiOptions options);
}

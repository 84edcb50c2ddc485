// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import org.ddstore.collective.Communicator;

/** The part of this package that needs mpi.jar; found by {@link java.util.ServiceLoader}. */
public interface MpiBinding {
  /** Returns the version text of Open MPI. Loads its library; throws the cause if that fails. */
  String libraryVersion();

  /** Implements {@link Mpi#join}. */
  MpiTransport join(Communicator ranks, int color, MpiOptions options);

  /**
   * Starts MPI in a process that mpirun has started, and connects its ranks. Collective over all of
   * them. If it fails, the process must end.
   */
  LaunchedRanks launch(Launch launch, MpiOptions options);
}

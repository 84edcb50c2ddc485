// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import mpi.MPI;
import org.ddstore.collective.Communicator;

/** The binding to Open MPI by its Java bindings. */
public final class OpenMpi implements MpiBinding {
  @Override
  public String libraryVersion() {
    return MPI.getLibVersion();
  }

  @Override
  public MpiTransport join(Communicator ranks, int color, MpiOptions options) {
    return Uninterrupted.call("ddstore-mpi-join", new Joining(ranks, color, options)::join);
  }

  @Override
  public LaunchedRanks launch(Launch launch, MpiOptions options) {
    return LaunchedWorld.start(launch, options);
  }
}

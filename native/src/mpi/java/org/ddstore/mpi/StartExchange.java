// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.ddstore.collective.Communicator;
import org.ddstore.types.Loggers;

/** An exchange of the data of MPI's start over the communicator of the ranks. */
final class StartExchange implements ProcessManager.Exchange {
  private static final System.Logger LOG = Loggers.of(StartExchange.class);

  private volatile Communicator ranks;
  private volatile Throwable failure;

  StartExchange(Communicator ranks) {
    this.ranks = ranks;
  }

  @Override
  public byte[] exchange(byte[] mine) {
    Communicator carrier = ranks;
    if (carrier == null) {
      return mine; // MPI_Finalize asks once more, with nothing to exchange
    }
    try {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      Arrays.stream(carrier.exchange("MPI start", () -> mine)).forEach(all::writeBytes);
      return all.toByteArray();
    } catch (RuntimeException | Error e) {
      failure = e; // MPI receives only an error number, and ends the process
      LOG.log(
          System.Logger.Level.ERROR,
          "MPI cannot start and ends this process: the exchange between the ranks has failed",
          e);
      throw e;
    }
  }

  /** Ends the use of the communicator after MPI has started. */
  void end() {
    ranks = null;
  }

  Throwable failure() {
    return failure;
  }
}

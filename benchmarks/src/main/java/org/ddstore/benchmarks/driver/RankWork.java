// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.driver;

import java.io.Serializable;
import java.util.function.Consumer;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.backend.OpenTransport;

/** The work of a measurement on each rank. Sent to the ranks, which are separate JVMs. */
public interface RankWork extends Serializable {
  /**
   * Runs on one rank after all ranks are connected.
   *
   * @param remote transport that the ranks have agreed on, owned by the caller
   * @param results consumer of the results of rank 0, in order; unused on other ranks
   */
  void run(Communicator ranks, OpenTransport remote, Consumer<Serializable> results)
      throws Exception;

  RankNetwork network();
}

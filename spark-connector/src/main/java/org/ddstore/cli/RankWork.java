package org.ddstore.cli;

import java.io.Serializable;
import java.util.function.Consumer;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.job.RemoteRows;

/** What a measurement does on each of its ranks, which are JVMs of their own. Sent to them. */
interface RankWork extends Serializable {
  /**
   * Runs on one rank, when all are connected.
   *
   * @param remote what the ranks have agreed on, the caller's
   * @param results takes what rank 0 has measured, in order; other ranks have nothing to say
   */
  void run(Communicator ranks, RemoteRows remote, Consumer<Serializable> results) throws Exception;

  /** How many ranks there are, and how they reach each other. */
  RankNetwork network();
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.util.concurrent.CompletableFuture;
import org.ddstore.memory.Nonce;
import org.ddstore.types.ProcessAddress;

/** The ways to the rows of a store in other processes. Thread-safe. */
public interface RowPaths {
  Nonce store();

  /** Opens a path to the rows of a process. Does not block. */
  CompletableFuture<DataPath> open(ProcessAddress process);

  /**
   * Asks a process that was silent whether it serves rows again. Does not block.
   *
   * @return completed by the answer; failed if there is none in time
   */
  CompletableFuture<?> probe(ProcessAddress process);

  /** Returns false if the process is known to have ended. */
  boolean mayBeAlive(ProcessAddress process);
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend.mpi;

/**
 * A mark on the failure of a rank, as a suppressed exception, that it had not reached the allGather
 * of the start. No rank passes the allGather before all reach it, so no rank of this attempt has
 * joined an MPI world.
 */
final class BeforeWorld extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private BeforeWorld(int rank) {
    super("rank %d failed before the allGather of the start".formatted(rank), null, false, false);
  }

  static void mark(Throwable failure, int rank) {
    failure.addSuppressed(new BeforeWorld(rank));
  }

  /** Returns whether a failure is marked; false if the mark was lost on the way to the driver. */
  static boolean isMarked(Throwable failure) {
    for (Throwable each : failure.getSuppressed()) {
      if (each instanceof BeforeWorld) {
        return true;
      }
    }
    return false;
  }
}

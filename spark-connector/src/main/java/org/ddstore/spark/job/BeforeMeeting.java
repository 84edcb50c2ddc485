package org.ddstore.spark.job;

/**
 * A mark on the failure of a rank, as a suppressed exception, that it had not reached the allGather
 * of the start. No rank passes the allGather before all reach it, so no rank of this attempt has
 * joined an MPI world.
 */
final class BeforeMeeting extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private BeforeMeeting(int rank) {
    super("rank %d failed before the allGather of the start".formatted(rank), null, false, false);
  }

  /** Marks the failure of a rank. */
  static void mark(Throwable failure, int rank) {
    failure.addSuppressed(new BeforeMeeting(rank));
  }

  /** Returns whether a failure is marked; false if the mark was lost on the way to the driver. */
  static boolean isMarked(Throwable failure) {
    if (failure != null) {
      for (Throwable each : failure.getSuppressed()) {
        if (each instanceof BeforeMeeting) {
          return true;
        }
      }
    }
    return false;
  }
}

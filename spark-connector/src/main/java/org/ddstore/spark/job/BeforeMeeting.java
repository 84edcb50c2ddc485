package org.ddstore.spark.job;

/**
 * What a rank adds to its failure, as a suppressed exception, if it had not come to the others yet:
 * all ranks meet before one goes on, so none of this attempt has joined an MPI world.
 */
final class BeforeMeeting extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private BeforeMeeting(int rank) {
    super("rank %d failed before it met the others".formatted(rank), null, false, false);
  }

  /** Marks what a rank fails with. */
  static void mark(Throwable failure, int rank) {
    failure.addSuppressed(new BeforeMeeting(rank));
  }

  /** Whether a failure is marked, as far as one can tell: it may not have come whole. */
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

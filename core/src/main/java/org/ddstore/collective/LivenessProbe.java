package org.ddstore.collective;

/**
 * Says whether the process of a rank still runs. Called by a rank that waits, by its own thread,
 * about every 100 ms, for ranks that have not arrived; it should return within a millisecond. What
 * it throws ends the collective and breaks the group.
 */
@FunctionalInterface
public interface LivenessProbe {
  /** Takes every rank for alive: only the deadline then ends a wait for a rank that died. */
  LivenessProbe ALWAYS_ALIVE = rank -> true;

  /**
   * Whether this rank may still come.
   *
   * @param rank of [0, size)
   * @return false only if the process has certainly ended
   */
  boolean alive(int rank);
}

package org.ddstore.read;

import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.ProcessAddress;

/** A running fetch that other threads may describe. Immutable. */
final class RunningFetch {
  private final RemoteReader reader;
  private final ProcessAddress[] processes;
  private final int[] ranks;
  private final long startNanos = System.nanoTime();

  /**
   * @param peers arranged rows, one element per process
   */
  RunningFetch(RemoteReader reader, List<PeerRows> peers) {
    this.reader = reader;
    this.processes = new ProcessAddress[peers.size()];
    this.ranks = new int[peers.size()];
    for (int p = 0; p < ranks.length; p++) {
      processes[p] = peers.get(p).process();
      ranks[p] = peers.get(p).segment(0).rank();
    }
  }

  /**
   * Returns a human-readable text with the processes whose rows are missing, a rank of each, and
   * the waiting time; empty if none is missing.
   */
  String describe() {
    StringJoiner missing = new StringJoiner(", ");
    for (int p = 0; p < ranks.length; p++) {
      if (reader.awaits(processes[p])) {
        missing.add("rank %d at %s".formatted(ranks[p], processes[p]));
      }
    }
    if (missing.length() == 0) {
      return "";
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    return "for rows of %s since %,d ms".formatted(missing, millis);
  }
}

package org.ddstore.read;

import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.ddstore.transport.PeerRows;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.ProcessAddress;

/** A fetch that a thread waits for, as other threads may describe it. Immutable. */
final class RunningFetch {
  private final RemoteReader reader;
  private final ProcessAddress[] processes;
  private final int[] ranks;
  private final long startNanos = System.nanoTime();

  /**
   * @param peers arranged
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
   * Human-readable: the processes whose rows are missing, each with a rank, and since when; empty
   * if none are.
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.ProcessAddress;

/**
 * Finds the processes that others can replace and that do not answer while nothing arrives.
 * libfabric does not tell whose reads are missing, so after half of the limit each process is asked
 * over its connection. One thread.
 */
final class SilenceWatch {
  private final RemoteMemories memories;
  private final Map<ProcessAddress, CompletableFuture<?>> probes = new HashMap<>();
  private Duration limit = Duration.ZERO;
  private BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable = (process, given) -> false;
  private long sinceNs;
  private long arrived;

  SilenceWatch(RemoteMemories memories) {
    this.memories = memories;
  }

  /** Sets what {@link org.ddstore.transport.RemoteReader#begin} describes. */
  void limit(Duration silence, BiPredicate<ProcessAddress, Set<ProcessAddress>> others) {
    limit = silence;
    replaceable = others;
  }

  /** Starts to watch reads, of which no byte has arrived. */
  void begin() {
    probes.clear();
    arrived = 0;
    sinceNs = System.nanoTime();
  }

  /** Returns the time at which a process that is asked for the first time counts as silent. */
  long firstAnswerNs(ProcessAddress process, long deadlineNs) {
    long atNs = System.nanoTime() + limit.toNanos();
    boolean isSooner = atNs - deadlineNs < 0 && replaceable.test(process, Set.of());
    return isSooner ? atNs : deadlineNs;
  }

  /**
   * Marks the processes that have not answered within the limit. Does not block.
   *
   * @param bytes number of bytes that have arrived
   * @return whether any is marked
   */
  boolean marks(List<PeerReads> peers, long bytes) {
    long silentNs = System.nanoTime() - sinceNs;
    if (bytes != arrived) {
      begin();
      arrived = bytes;
    } else if (silentNs >= limit.toNanos() && !probes.isEmpty()) {
      Set<ProcessAddress> given = new HashSet<>();
      for (PeerReads peer : peers) {
        PeerRows rows = peer.rows();
        if (isSilent(rows.process()) && replaceable.test(rows.process(), given)) {
          rows.markSilent();
          given.add(rows.process());
        }
      }
      begin();
      return !given.isEmpty();
    } else if (silentNs >= limit.toNanos() / 2 && probes.isEmpty()) {
      for (PeerReads peer : peers) {
        ProcessAddress process = peer.rows().process();
        if (replaceable.test(process, Set.of())) {
          probes.put(process, memories.probe(process, limit));
        }
      }
    }
    return false;
  }

  private boolean isSilent(ProcessAddress process) {
    CompletableFuture<?> probe = probes.get(process);
    return probe != null && (!probe.isDone() || probe.isCompletedExceptionally());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import org.ddstore.transport.PeerRows;
import org.ddstore.types.ProcessAddress;

/**
 * Finds the processes of a fetch that others can replace and that do not answer. libfabric does not
 * tell whose reads are missing, so when nothing has arrived for half of the limit each process is
 * asked over its connection, and has as long again to answer. One thread.
 */
final class SilenceWatch {
  /** The calls of {@link #marks} are 100 ms apart, unless this process was stopped itself. */
  private static final long PAUSE_NS = Duration.ofMillis(500).toNanos();

  private final BiFunction<ProcessAddress, Duration, CompletableFuture<?>> probe;
  private final LongSupplier clock;
  private final Map<ProcessAddress, CompletableFuture<?>> probes = new HashMap<>();
  private Duration limit = Duration.ZERO;
  private BiPredicate<ProcessAddress, Set<ProcessAddress>> replaceable = (process, given) -> false;
  private List<PeerRows> peers = List.of();
  private boolean asked; // since begin
  private long arrived;
  private long sinceNs;
  private long probedNs;
  private long lastNs;

  /**
   * @param probe asks a process whether it answers within a time
   * @param clock time in nanoseconds
   */
  SilenceWatch(
      BiFunction<ProcessAddress, Duration, CompletableFuture<?>> probe, LongSupplier clock) {
    this.probe = probe;
    this.clock = clock;
  }

  /** Sets what {@link org.ddstore.transport.RemoteReader#begin} describes. */
  void limit(Duration silence, BiPredicate<ProcessAddress, Set<ProcessAddress>> others) {
    limit = silence;
    replaceable = others;
  }

  /** Starts to watch the processes of a fetch. */
  void begin(List<PeerRows> all) {
    peers = all;
    begin();
  }

  /** Starts to watch reads, of which no byte has arrived. */
  void begin() {
    probes.clear();
    asked = false;
    arrived = 0;
    sinceNs = clock.getAsLong();
    lastNs = sinceNs;
  }

  /**
   * Returns the time until which a process may answer a question. Asks all processes of the fetch
   * at the first one, so that several that are cut off together are found together.
   */
  long answerNs(ProcessAddress process, long deadlineNs) {
    if (!asked) {
      askAll();
    }
    long atNs = clock.getAsLong() + limit.toNanos();
    return probes.containsKey(process) && atNs - deadlineNs < 0 ? atNs : deadlineNs;
  }

  /**
   * Marks the processes that have not answered within the limit. Does not block.
   *
   * @param bytes number of bytes that have arrived
   * @return whether any is marked
   */
  boolean marks(long bytes) {
    long now = clock.getAsLong();
    boolean wasStopped = now - lastNs > PAUSE_NS; // and could not see answers
    lastNs = now;
    if (wasStopped || bytes != arrived) {
      begin();
      arrived = bytes;
      return false;
    }
    if (!asked) {
      if (now - sinceNs >= limit.toNanos() / 2) {
        askAll();
      }
      return false;
    }
    return now - probedNs >= limit.toNanos() / 2 && marksUnanswered();
  }

  /** Notes that a process has answered a question. */
  void answered(ProcessAddress process) {
    probes.replace(process, CompletableFuture.completedFuture(null));
  }

  private void askAll() {
    asked = true;
    for (PeerRows rows : peers) {
      if (replaceable.test(rows.process(), Set.of())) {
        probes.put(rows.process(), probe.apply(rows.process(), limit));
      }
    }
    probedNs = clock.getAsLong();
  }

  /** Marks processes that were asked and have not answered, as far as others have their rows. */
  boolean marksUnanswered() {
    Set<ProcessAddress> given = new HashSet<>();
    for (PeerRows rows : peers) {
      CompletableFuture<?> answer = probes.get(rows.process());
      boolean isSilent = answer != null && (!answer.isDone() || answer.isCompletedExceptionally());
      if (isSilent && replaceable.test(rows.process(), given)) {
        rows.markSilent();
        given.add(rows.process());
      }
    }
    begin();
    return !given.isEmpty();
  }
}

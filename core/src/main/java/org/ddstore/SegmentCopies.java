// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import org.ddstore.memory.RowDigest;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.Reach;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The copies of the segments of a variable, one catalog per copy, and the selection of the copy to
 * read: the nearest one whose process is neither gone nor silent. A silent process is probed, and
 * its copies are read again once it has answered. Guarded by the lock of its variable.
 */
final class SegmentCopies {
  /** Time before a silent process is probed, and between two probes that fail. */
  static final Duration PROBE_PERIOD = Duration.ofSeconds(5);

  private static final int MAX_NAMED_EXTENTS = 64;
  private static final long NEVER = Long.MAX_VALUE;

  private final int ranks;
  private final List<Catalog.Entry> copies;
  private final Set<ProcessAddress> gone = new HashSet<>();
  private final Set<ProcessAddress> silent = new HashSet<>();
  private final Map<ProcessAddress, CompletableFuture<?>> probes =
      new HashMap<>(); // of silent ones
  private final long probePeriodNs;
  private volatile long probeNs = NEVER; // time of the next look at silent processes

  /**
   * @param copies catalog entries of one variable, in order of preference
   * @param probePeriod time before a silent process is probed, and between two probes that fail
   * @throws IllegalArgumentException if they are not copies of each other
   */
  SegmentCopies(int ranks, List<Catalog.Entry> copies, Duration probePeriod) {
    this.ranks = ranks;
    this.probePeriodNs = probePeriod.toNanos();
    this.copies = List.copyOf(copies);
    Catalog.Entry first = copies.get(0);
    for (Catalog.Entry copy : copies) {
      if (!copy.name().equals(first.name())
          || !copy.schema().equals(first.schema())
          || !rows(copy).equals(rows(first))) {
        throw new IllegalArgumentException(
            "variable \"%s\" is not a copy of \"%s\": %s with rows %s, expected %s with rows %s"
                .formatted(
                    copy.name(),
                    first.name(),
                    copy.schema(),
                    text(rows(copy)),
                    first.schema(),
                    text(rows(first))));
      }
    }
  }

  /** Returns a short text that tells lists of row counts apart: all ranks send it to all. */
  private static String text(List<Long> rows) {
    if (rows.size() <= MAX_NAMED_EXTENTS) {
      return rows.toString();
    }
    ByteBuffer counts = ByteBuffer.allocate(Long.BYTES * rows.size());
    rows.forEach(counts::putLong);
    RowDigest digest = new RowDigest();
    digest.add(0, counts, 0, counts.capacity());
    return "%s and %d more (digest %s)"
        .formatted(rows.subList(0, MAX_NAMED_EXTENTS), rows.size() - MAX_NAMED_EXTENTS, digest);
  }

  private static List<Long> rows(Catalog.Entry copy) {
    return copy.segments().stream().map(SegmentAddress::rows).toList();
  }

  String name() {
    return copies.get(0).name();
  }

  Schema schema() {
    return copies.get(0).schema();
  }

  int extents() {
    return copies.get(0).segments().size();
  }

  int ranks() {
    return ranks;
  }

  /** The selected copy of a segment, with an attachment whose reference the caller owns. */
  record Chosen(SegmentAddress address, Attachment attachment) {}

  /** Attaches to all extents; if one fails, releases the others. */
  List<Chosen> attachAll(Reach reach) {
    List<Chosen> all = new ArrayList<>();
    try {
      for (int extent = 0; extent < extents(); extent++) {
        all.add(attach(extent, reach));
      }
      return all;
    } catch (RuntimeException | Error e) {
      all.forEach(chosen -> chosen.attachment().release());
      throw e;
    }
  }

  /**
   * Attaches to the nearest copy of an extent.
   *
   * @throws DDStoreException if no copy can be reached
   */
  Chosen attach(int extent, Reach reach) {
    Chosen best = null;
    DDStoreException failure = null;
    for (Catalog.Entry copy : copies) {
      SegmentAddress address = copy.segments().get(extent);
      if (best != null && best.attachment().path() == ReadPath.OWN_PROCESS) {
        break;
      }
      try {
        Attachment found = address.attach(extent % ranks, copy.schema(), reach);
        if (found.segment() == null && isOut(address.endpoint())) {
          continue;
        }
        if (best == null || found.path().index() < best.attachment().path().index()) {
          release(best);
          best = new Chosen(address, found);
        } else {
          found.release();
        }
      } catch (DDStoreException e) {
        failure = e;
      } catch (RuntimeException | Error e) {
        release(best);
        throw e;
      }
    }
    if (best == null) {
      throw failure != null
          ? failure
          : new DDStoreException(
              "all processes that held the rows of rank %d of \"%s\" have ended or do not answer"
                  .formatted(extent % ranks, name()));
    }
    return best;
  }

  private static void release(Chosen chosen) {
    if (chosen != null) {
      chosen.attachment().release();
    }
  }

  /**
   * Attaches to other copies of the remote extents that gone or silent processes serve. Silent
   * processes are skipped as long as others are left.
   *
   * @param attachments attachment of each extent; changed only if all extents have another copy
   * @param addresses address of the segment of each extent; likewise
   * @return false if an extent has no other copy
   */
  boolean replace(
      List<Attachment> attachments,
      List<SegmentAddress> addresses,
      Set<ProcessAddress> gone,
      Set<ProcessAddress> silent,
      Reach reach) {
    this.gone.addAll(gone);
    if (!silent.isEmpty()) {
      this.silent.addAll(silent);
      probes.keySet().removeAll(silent);
      probeNs = System.nanoTime() + probePeriodNs;
    }
    IntPredicate isReplaced =
        extent -> {
          ProcessAddress server = addresses.get(extent).endpoint();
          return gone.contains(server) || silent.contains(server);
        };
    if (attachAgain(attachments, addresses, isReplaced, reach)) {
      return true;
    }
    // Processes that were silent earlier are tried again when no others are left.
    boolean wereOthers = this.silent.retainAll(silent);
    if (wereOthers && attachAgain(attachments, addresses, isReplaced, reach)) {
      return true;
    }
    this.silent.clear();
    return false;
  }

  /** Returns whether {@link #readmit} is due. Any thread, without the lock. */
  boolean isProbeDue() {
    long due = probeNs;
    return due != NEVER && System.nanoTime() - due >= 0;
  }

  /**
   * Attaches to the copies of silent processes that have answered their probes, if they are the
   * nearest, and probes the others. Does not block.
   *
   * @return whether attachments and addresses have changed
   */
  boolean readmit(List<Attachment> attachments, List<SegmentAddress> addresses, Reach reach) {
    if (!isProbeDue()) {
      return false; // another reader was first
    }
    Set<ProcessAddress> answered = new HashSet<>(silent);
    answered.removeIf(this::isSilent);
    silent.removeAll(answered);
    boolean hasChanged =
        !answered.isEmpty()
            && attachAgain(attachments, addresses, extent -> isServed(extent, answered), reach);
    probe(reach);
    return hasChanged;
  }

  private boolean isServed(int extent, Set<ProcessAddress> by) {
    return copies.stream().anyMatch(copy -> by.contains(copy.segments().get(extent).endpoint()));
  }

  /** Probes silent processes if it is time. Does not block. */
  void probe(Reach reach) {
    if (!isProbeDue()) {
      return;
    }
    probes.keySet().retainAll(silent);
    probeNs = silent.isEmpty() ? NEVER : System.nanoTime() + probePeriodNs;
    for (ProcessAddress process : silent) {
      CompletableFuture<?> before = probes.get(process);
      if (before == null || before.isCompletedExceptionally()) {
        probes.put(process, probe(process, reach));
      }
    }
  }

  private CompletableFuture<?> probe(ProcessAddress process, Reach reach) {
    try {
      return reach.transport().probe(process).thenRun(() -> probeNs = System.nanoTime());
    } catch (RuntimeException | OutOfMemoryError e) { // closed, or out of threads
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns whether a process was silent and has not answered a probe since. */
  private boolean isSilent(ProcessAddress process) {
    CompletableFuture<?> probe = probes.get(process);
    boolean hasAnswered = probe != null && probe.isDone() && !probe.isCompletedExceptionally();
    return silent.contains(process) && !hasAnswered;
  }

  private boolean attachAgain(
      List<Attachment> attachments,
      List<SegmentAddress> addresses,
      IntPredicate isReplaced,
      Reach reach) {
    List<Attachment> newAttachments = new ArrayList<>(attachments);
    List<SegmentAddress> newAddresses = new ArrayList<>(addresses);
    try {
      for (int e = 0; e < newAttachments.size(); e++) {
        if (newAttachments.get(e).segment() == null && isReplaced.test(e)) {
          Chosen other = attach(e, reach);
          newAttachments.set(e, other.attachment());
          newAddresses.set(e, other.address());
        }
      }
    } catch (DDStoreException e) {
      newAttachments.stream().filter(a -> !attachments.contains(a)).forEach(Attachment::release);
      return false;
    }
    for (int e = 0; e < newAttachments.size(); e++) {
      attachments.set(e, newAttachments.get(e));
      addresses.set(e, newAddresses.get(e));
    }
    return true;
  }

  /** Returns whether a process other than the given and the excluded ones may serve an extent. */
  boolean hasOther(int extent, ProcessAddress process, Set<ProcessAddress> excluded) {
    return copies.stream()
        .map(copy -> copy.segments().get(extent).endpoint())
        .anyMatch(
            other ->
                other != null
                    && !other.equals(process)
                    && !excluded.contains(other)
                    && !isOut(other));
  }

  private boolean isOut(ProcessAddress process) {
    return gone.contains(process) || isSilent(process);
  }

  long processes() {
    return copies.stream()
        .flatMap(copy -> copy.segments().stream())
        .map(SegmentAddress::endpoint)
        .distinct()
        .count();
  }

  /** Returns a text that is equal for copies of the same rows. */
  @Override
  public String toString() {
    return "\"%s\" with rows %s of %s".formatted(name(), text(rows(copies.get(0))), schema());
  }
}

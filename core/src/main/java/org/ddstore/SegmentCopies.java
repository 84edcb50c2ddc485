package org.ddstore;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.Reach;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * The segments of a variable of which a catalog for each copy says where they are, and which copy
 * is read: the one that is nearest, of those whose process has not been found gone or silent. Used
 * under the lock of its variable.
 */
final class SegmentCopies {
  private final int ranks;
  private final List<Catalog.Entry> copies;
  private final Set<ProcessAddress> gone = new HashSet<>();
  private final Set<ProcessAddress> silent = new HashSet<>();

  /**
   * @param copies of one variable, the preferred one first
   * @throws IllegalArgumentException if they are not copies of each other
   */
  SegmentCopies(int ranks, List<Catalog.Entry> copies) {
    this.ranks = ranks;
    this.copies = List.copyOf(copies);
    Catalog.Entry first = copies.get(0);
    for (Catalog.Entry copy : copies) {
      if (!copy.name().equals(first.name())
          || !copy.schema().equals(first.schema())
          || !rows(copy).equals(rows(first))) {
        throw new IllegalArgumentException(
            "%s with rows %s is no copy of %s with rows %s"
                .formatted(copy.schema(), rows(copy), first.schema(), rows(first)));
      }
    }
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

  /**
   * A segment as it is reached, and which copy it is of.
   *
   * @param attachment with a reference that is the caller's
   */
  record Chosen(SegmentAddress address, Attachment attachment) {}

  /** All extents, attached. What was attached before one fails is released. */
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
   * The nearest copy of an extent.
   *
   * @throws DDStoreException if no copy can be reached
   */
  Chosen attach(int extent, Reach reach) {
    Chosen best = null;
    DDStoreException why = null;
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
        why = e;
      } catch (RuntimeException | Error e) {
        release(best);
        throw e;
      }
    }
    if (best == null) {
      throw why != null
          ? why
          : new DDStoreException(
              "no process that held the rows of rank %d of \"%s\" serves them any more"
                  .formatted(extent % ranks, name()));
    }
    return best;
  }

  private static void release(Chosen chosen) {
    if (chosen != null) {
      chosen.attachment().release();
    }
  }

  /** These processes serve nothing any more. */
  void markGone(Collection<ProcessAddress> processes) {
    gone.addAll(processes);
  }

  /** These processes do not answer: they are not asked again as long as others are left. */
  void markSilent(Collection<ProcessAddress> processes) {
    silent.addAll(processes);
  }

  /** No others are left: whoever was silent may answer now. */
  void forgetSilent() {
    silent.clear();
  }

  /** Whether another process than this one may serve a copy of an extent. */
  boolean hasOther(int extent, ProcessAddress process) {
    return copies.stream()
        .map(copy -> copy.segments().get(extent).endpoint())
        .anyMatch(other -> other != null && !other.equals(process) && !isOut(other));
  }

  private boolean isOut(ProcessAddress process) {
    return gone.contains(process) || silent.contains(process);
  }

  int copies() {
    return copies.size();
  }

  /** Equal for copies of the same rows. */
  @Override
  public String toString() {
    return "\"%s\" with rows %s of %s".formatted(name(), rows(copies.get(0)), schema());
  }
}

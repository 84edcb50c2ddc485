// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.ddstore.layout.ExtentMap;
import org.ddstore.layout.RowSpan;
import org.ddstore.memory.Segment;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;

/**
 * The placement of the rows of a variable: its extents, and the access of this process to the
 * segment of each. Local memory is memory that this process owns or has mapped; all other rows are
 * remote. Immutable; an append creates a new one.
 */
public final class Placement {
  /** Largest number of extents of a place table; {@code jni_gather.c} has room for 64. */
  static final int MAX_TABLE_EXTENTS = 64;

  private static final int MAX_TABLE_CHUNKS = 256;
  private static final int HEAD_LONGS = 4;
  private static final int EXTENT_LONGS = 4;

  private final ExtentMap extents;
  private final Segment[] segments;
  private final RemoteSegment[] remotes;
  private final int[] peers;
  private final List<ProcessAddress> peerAddresses = new ArrayList<>();
  private final ReadPath[] paths;
  private final int[] pathIndices;
  private final boolean ragged;
  private final boolean paged;
  private final long[] placeTable;
  private final List<Supplier<String>> reasons;

  /**
   * @param attachments attached segments, one per extent
   */
  public Placement(ExtentMap extents, List<Attachment> attachments) {
    this.extents = extents;
    this.segments = attachments.stream().map(Attachment::segment).toArray(Segment[]::new);
    this.remotes = attachments.stream().map(Attachment::remote).toArray(RemoteSegment[]::new);
    this.peers = new int[remotes.length];
    Map<ProcessAddress, Integer> numbers = new HashMap<>();
    for (int extent = 0; extent < remotes.length; extent++) {
      peers[extent] = remotes[extent] == null ? -1 : peerNumber(numbers, remotes[extent].process());
    }
    this.paths = attachments.stream().map(Attachment::path).toArray(ReadPath[]::new);
    this.pathIndices = Arrays.stream(paths).mapToInt(ReadPath::index).toArray();
    this.ragged = attachments.stream().anyMatch(Attachment::isRagged);
    this.paged = Arrays.stream(segments).anyMatch(s -> s != null && s.isPaged());
    this.placeTable = newPlaceTable(extents, segments);
    this.reasons = attachments.stream().map(Attachment::reason).toList();
  }

  public ExtentMap extents() {
    return extents;
  }

  /** Returns the memory of an extent; null if it is remote. */
  public Segment segment(int extent) {
    return segments[extent];
  }

  /** Returns the remote segment of an extent; null if it is in local memory. */
  RemoteSegment remote(int extent) {
    return remotes[extent];
  }

  /** Returns the number, from 0, of the process that serves a remote extent; -1 if it is local. */
  int peer(int extent) {
    return peers[extent];
  }

  /** Returns the number of processes that serve remote extents. */
  int peers() {
    return peerAddresses.size();
  }

  /** Returns the number of processes that serve at least one remote row. */
  int peersWithRows() {
    BitSet all = new BitSet();
    for (int extent = 0; extent < peers.length; extent++) {
      if (peers[extent] >= 0 && extents.rows(extent) > 0) {
        all.set(peers[extent]);
      }
    }
    return all.cardinality();
  }

  ProcessAddress peerAddress(int peer) {
    return peerAddresses.get(peer);
  }

  /** Returns whether some rows are not in local memory. */
  public boolean hasRemote() {
    return !peerAddresses.isEmpty();
  }

  private int peerNumber(Map<ProcessAddress, Integer> numbers, ProcessAddress process) {
    Integer known = numbers.putIfAbsent(process, peerAddresses.size());
    if (known != null) {
      return known;
    }
    peerAddresses.add(process);
    return peerAddresses.size() - 1;
  }

  /** Returns the {@link ReadPath#index()} of the path to an extent. */
  public int pathIndex(int extent) {
    return pathIndices[extent];
  }

  boolean isRagged() {
    return ragged;
  }

  /** Returns whether rows may have to be read from a disk of this host. */
  public boolean isPaged() {
    return paged;
  }

  /** Returns the table of places for a kernel; may be null. */
  long[] placeTable() {
    return placeTable;
  }

  public ReadPath path(int extent) {
    return paths[extent];
  }

  /** Returns the human-readable reason for the path to an extent. */
  public String reason(int extent) {
    return reasons.get(extent).get();
  }

  public long rows() {
    return extents.rows();
  }

  /** Returns the size in bytes of a record in local memory; 0 for a remote row. */
  public int localBytes(long index) {
    int extent = extents.extentOf(index);
    return segments[extent] == null
        ? 0
        : segments[extent].recordBytes(index - extents.firstRow(extent));
  }

  /**
   * Copies indices and checks the copies, because the caller may change its array at any time.
   *
   * @param target receives the copies, starting at {@code from}
   * @throws IndexOutOfBoundsException if an index is out of range; the message names it, its
   *     position and the legal range
   */
  public void copyChecked(long[] indices, long[] target, int from, String variable) {
    System.arraycopy(indices, 0, target, from, indices.length);
    long limit = rows();
    int end = from + indices.length;
    long signs = 0; // one branch for all indices, so that the compiler can vectorize the loop
    for (int i = from; i < end; i++) {
      signs |= target[i] | (limit - 1 - target[i]);
    }
    if (signs >= 0) {
      return;
    }
    for (int i = from; i < end; i++) {
      if (target[i] < 0 || target[i] >= limit) {
        throw new IndexOutOfBoundsException(
            "row %d (number %d of the batch) outside [0, %d) of \"%s\""
                .formatted(target[i], i - from, limit, variable));
      }
    }
  }

  /** Rejects rows out of range, with a message that names the legal range. */
  public void check(long start, long count, String variable) {
    if (start < 0 || count < 0 || start > rows() - count) {
      throw new IndexOutOfBoundsException(
          count == 1
              ? "row %d outside [0, %d) of \"%s\"".formatted(start, rows(), variable)
              : "rows %s outside [0, %d) of \"%s\""
                  .formatted(RowSpan.format(start, count), rows(), variable));
    }
  }

  /**
   * Returns the table of the places of fixed records, for a {@link GatherKernel} that resolves
   * indices itself; null unless all rows lie in local memory, within the limits on extents and
   * chunks.
   *
   * <pre>
   *   extents | chunks | record bytes | rows           (4 longs)
   *   first row | rows | log2 of a chunk's rows | number of the first chunk   (for each extent)
   *   address                                          (of each chunk)
   * </pre>
   */
  private static long[] newPlaceTable(ExtentMap extents, Segment... segments) {
    int count = extents.extents();
    if (extents.rows() == 0
        || count > MAX_TABLE_EXTENTS
        || !Arrays.stream(segments).allMatch(segment -> isFixed(segment))) {
      return null;
    }
    int chunks = Arrays.stream(segments).mapToInt(Segment::chunks).sum();
    if (chunks > MAX_TABLE_CHUNKS) {
      return null;
    }
    long[] table = new long[HEAD_LONGS + EXTENT_LONGS * count + chunks];
    table[0] = count;
    table[1] = chunks;
    table[2] = segments[0].recordBytes(0);
    table[3] = extents.rows();
    int chunk = 0;
    for (int e = 0; e < count; e++) {
      if (extents.rows(e) > segments[e].rows()) {
        return null; // the row-by-row path detects and reports a missing row
      }
      int at = HEAD_LONGS + EXTENT_LONGS * e;
      table[at] = extents.firstRow(e);
      table[at + 1] = extents.rows(e);
      table[at + 2] = segments[e].rowShift();
      table[at + 3] = chunk;
      for (int c = 0; c < segments[e].chunks(); c++) {
        table[HEAD_LONGS + EXTENT_LONGS * count + chunk++] = segments[e].chunkAddress(c);
      }
    }
    return table;
  }

  private static boolean isFixed(Segment segment) {
    return segment != null && segment.schema().isFixed();
  }
}

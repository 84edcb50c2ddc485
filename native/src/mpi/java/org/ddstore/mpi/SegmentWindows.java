// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import mpi.Intracomm;
import mpi.MPI;
import mpi.MPIException;
import mpi.Win;
import org.ddstore.memory.Segment;
import org.ddstore.memory.SegmentMap;

/**
 * The windows of one segment of each rank: one for the version word, one per chunk and one per
 * offset buffer. Ranks with fewer chunks or buffers contribute empty windows. Open for
 * passive-target access from creation to the end.
 */
final class SegmentWindows {
  private static final ByteBuffer NOTHING = MPI.newByteBuffer(Long.BYTES);

  private final Segment own;
  private final Win version;
  private final List<Win> chunks = new ArrayList<>();
  private final List<Win> offsets = new ArrayList<>();
  private final List<RecordLayout> layouts = new ArrayList<>();

  /**
   * Creates the windows. Collective over the ranks of {@code comm}.
   *
   * @param own segment of this rank; takes over one reference
   */
  SegmentWindows(Intracomm comm, Segment own) throws MPIException {
    this.own = own;
    SegmentMap map = own.map();
    int[] counts = exchangeLayouts(map, comm);
    version = window(map.version(), comm);
    add(chunks, counts[0], map.chunks(), comm);
    add(offsets, counts[1], map.offsets(), comm);
  }

  /** Returns the largest numbers of chunks and offset buffers of any rank. */
  private int[] exchangeLayouts(SegmentMap map, Intracomm comm) throws MPIException {
    byte[] layout = RecordLayout.of(own, map).toBytes();
    int size = comm.getSize();
    int[] sizes = new int[3 * size];
    comm.allGather(
        new int[] {map.chunks().size(), map.offsets().size(), layout.length},
        3,
        MPI.INT,
        sizes,
        3,
        MPI.INT);
    int[] lengths = new int[size];
    int[] starts = new int[size];
    int[] largest = new int[2];
    int bytes = 0;
    for (int rank = 0; rank < size; rank++) {
      largest[0] = Math.max(largest[0], sizes[3 * rank]);
      largest[1] = Math.max(largest[1], sizes[3 * rank + 1]);
      lengths[rank] = sizes[3 * rank + 2];
      starts[rank] = bytes;
      bytes = Math.addExact(bytes, lengths[rank]);
    }
    byte[] all = new byte[bytes];
    comm.allGatherv(layout, layout.length, MPI.BYTE, all, lengths, starts, MPI.BYTE);
    for (int rank = 0; rank < size; rank++) {
      byte[] one = new byte[lengths[rank]];
      System.arraycopy(all, starts[rank], one, 0, one.length);
      layouts.add(RecordLayout.parse(one));
    }
    return largest;
  }

  private static void add(List<Win> windows, int count, List<ByteBuffer> memory, Intracomm comm)
      throws MPIException {
    for (int i = 0; i < count; i++) {
      windows.add(window(i < memory.size() ? memory.get(i) : null, comm));
    }
  }

  /**
   * @param memory null for an empty window
   */
  private static Win window(ByteBuffer memory, Intracomm comm) throws MPIException {
    Win window =
        new Win(
            memory == null ? NOTHING : memory,
            memory == null ? 0 : memory.capacity(),
            1,
            MPI.INFO_NULL,
            comm);
    window.setErrhandler(MPI.ERRORS_RETURN);
    window.lockAll(MPI.MODE_NOCHECK); // no other kind of lock is used
    return window;
  }

  Win version() {
    return version;
  }

  Win chunk(int index) {
    return chunks.get(index);
  }

  Win offsets(int index) {
    return offsets.get(index);
  }

  RecordLayout layout(int rank) {
    return layouts.get(rank);
  }

  Segment own() {
    return own;
  }

  /** Frees the windows. Collective. The segment stays allocated. */
  void free() throws MPIException {
    free(version);
    for (Win window : chunks) {
      free(window);
    }
    for (Win window : offsets) {
      free(window);
    }
  }

  private static void free(Win window) throws MPIException {
    window.unlockAll();
    window.free();
  }
}

package org.ddstore.mpi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import mpi.Datatype;
import mpi.MPI;
import mpi.MPIException;
import mpi.Win;

/**
 * One-sided reads of many pieces, which come to lie back to back. Pieces of one window and target
 * are one call, whose datatype lists them; neighbours are one piece. What is outstanding is
 * bounded. Used by one thread, inside {@link MpiCalls}.
 */
final class WindowGets {
  /** More is not outstanding at once. */
  private static final int MAX_BYTES = 16 << 20;

  /** The pieces of one call at most: a target reads their list in one message. */
  private static final int MAX_PIECES = 4096;

  private final List<Posted> posted = new ArrayList<>();
  private int[] displacements = new int[64];
  private int[] lengths = new int[64];
  private int pieces;
  private int pieceBytes;
  private int outstandingBytes;

  private Win window;
  private int target;
  private ByteBuffer destination;
  private int start;

  private record Posted(Win window, int target) {}

  /**
   * Begins a series of pieces.
   *
   * @param into direct; its position does not count
   * @param at where the first piece comes to lie
   */
  void begin(ByteBuffer into, int at) throws MPIException {
    post();
    destination = into;
    start = at;
  }

  /**
   * Adds a piece, which comes to lie behind the one before. May block to bound what is outstanding.
   */
  void add(Win from, int owner, int displacement, int length) throws MPIException {
    if (from != window || owner != target) {
      post();
      window = from;
      target = owner;
    }
    int last = pieces - 1;
    if (pieces > 0 && displacements[last] + lengths[last] == displacement) {
      lengths[last] += length;
    } else {
      if (pieces == displacements.length) {
        displacements = Arrays.copyOf(displacements, 2 * pieces);
        lengths = Arrays.copyOf(lengths, 2 * pieces);
      }
      displacements[pieces] = displacement;
      lengths[pieces++] = length;
    }
    pieceBytes += length;
    if (pieces == MAX_PIECES || pieceBytes >= MAX_BYTES) {
      post();
    }
    if (outstandingBytes >= MAX_BYTES) {
      flush();
    }
  }

  /** Waits for all pieces. Blocks until they are there. */
  void complete() throws MPIException {
    post();
    flush();
    window = null;
    destination = null;
  }

  /** Forgets what a failed call has left. */
  void reset() {
    posted.clear();
    pieces = 0;
    pieceBytes = 0;
    outstandingBytes = 0;
    window = null;
    destination = null;
  }

  private void post() throws MPIException {
    if (pieces == 0) {
      return;
    }
    ByteBuffer at = MPI.slice(destination, start);
    if (pieces == 1) {
      window.get(at, pieceBytes, MPI.BYTE, target, displacements[0], pieceBytes, MPI.BYTE);
    } else {
      Datatype list =
          Datatype.createHIndexed(
              Arrays.copyOf(lengths, pieces), Arrays.copyOf(displacements, pieces), MPI.BYTE);
      list.commit();
      window.get(at, pieceBytes, MPI.BYTE, target, 0, 1, list);
      list.free(); // MPI keeps what it still needs
    }
    if (posted.stream().noneMatch(p -> p.window() == window && p.target() == target)) {
      posted.add(new Posted(window, target));
    }
    start += pieceBytes;
    outstandingBytes += pieceBytes;
    pieces = 0;
    pieceBytes = 0;
  }

  private void flush() throws MPIException {
    for (Posted each : posted) {
      each.window().flush(each.target());
    }
    posted.clear();
    outstandingBytes = 0;
  }
}

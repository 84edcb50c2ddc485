// SPDX-License-Identifier: Apache-2.0
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
 * A batch of one-sided reads of many pieces into contiguous memory. Pieces of one window and target
 * form one call, whose datatype lists them; adjacent pieces are joined. The outstanding bytes are
 * bounded. Used by one thread, inside {@link MpiCalls}.
 */
final class WindowGets {
  /** Limit of outstanding bytes. */
  private static final int MAX_BYTES = 16 << 20;

  /** Limit of pieces per call: a target reads their list in one message. */
  private static final int MAX_PIECES = 4096;

  private final Between between;
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

  /** An action that runs while nothing is outstanding and more reads follow. */
  @FunctionalInterface
  interface Between {
    /** Runs the action; can throw to end the read. */
    void run() throws MPIException;
  }

  WindowGets(Between between) {
    this.between = between;
  }

  /**
   * Begins a series of pieces.
   *
   * @param into direct buffer; its position is ignored
   * @param at position of the first piece in the buffer
   */
  void begin(ByteBuffer into, int at) throws MPIException {
    post();
    destination = into;
    start = at;
  }

  /** Adds a piece behind the previous one. Blocks to bound the outstanding bytes. */
  void add(Win from, int owner, int displacement, int length) throws MPIException {
    int at = displacement;
    int left = length;
    while (left > 0) {
      if (outstandingBytes + pieceBytes == MAX_BYTES) {
        post();
        flush();
        between.run();
      }
      int now = Math.min(left, MAX_BYTES - outstandingBytes - pieceBytes);
      append(from, owner, at, now);
      at += now;
      left -= now;
    }
  }

  private void append(Win from, int owner, int displacement, int length) throws MPIException {
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
    if (pieces == MAX_PIECES) {
      post();
    }
  }

  /** Waits for all pieces. Blocks until they have arrived. */
  void complete() throws MPIException {
    post();
    flush();
    window = null;
    destination = null;
  }

  /**
   * Waits for reads that a failed call may have left outstanding, and discards them. Blocks.
   *
   * @return false if MPI does not confirm that nothing writes to the destination any more
   */
  boolean settle() {
    boolean settled = true;
    for (Posted each : posted) {
      try {
        each.window().flush(each.target());
      } catch (MPIException e) {
        settled = false;
      }
    }
    posted.clear();
    pieces = 0;
    pieceBytes = 0;
    outstandingBytes = 0;
    window = null;
    destination = null;
    return settled;
  }

  private void post() throws MPIException {
    if (pieces == 0) {
      return;
    }
    ByteBuffer at = MPI.slice(destination, start);
    if (posted.stream().noneMatch(p -> p.window() == window && p.target() == target)) {
      posted.add(new Posted(window, target)); // before a call that can fail half-way
    }
    if (pieces == 1) {
      window.get(at, pieceBytes, MPI.BYTE, target, displacements[0], pieceBytes, MPI.BYTE);
    } else {
      Datatype list =
          Datatype.createHIndexed(
              Arrays.copyOf(lengths, pieces), Arrays.copyOf(displacements, pieces), MPI.BYTE);
      try {
        list.commit();
        window.get(at, pieceBytes, MPI.BYTE, target, 0, 1, list);
      } finally {
        list.free(); // MPI keeps the data that it still needs
      }
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

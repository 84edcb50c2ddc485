// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.function.LongFunction;
import org.ddstore.memory.OffHeapBuffer;
import org.ddstore.memory.Segment;

/** The row updates that the next access epoch applies to their segments. */
final class StagedUpdates implements AutoCloseable {
  private static final int PIECE_BYTES = 4 << 20;

  private final List<Piece> pieces = new ArrayList<>();
  private final LongFunction<OffHeapBuffer> allocator;

  private record Piece(
      Variable variable, Segment segment, long row, OffHeapBuffer records, int bytes) {}

  StagedUpdates() {
    this(OffHeapBuffer::allocate);
  }

  /**
   * @param allocator allocates memory of the given number of bytes
   */
  StagedUpdates(LongFunction<OffHeapBuffer> allocator) {
    this.allocator = allocator;
  }

  /** Copies the rows as replacements for local rows; if this fails, none of them is staged. */
  void stage(Variable variable, Tensor tensor, long localRow) {
    List<Piece> added = new ArrayList<>();
    try {
      copy(added, variable, tensor, localRow);
      pieces.addAll(added);
    } catch (RuntimeException | Error e) {
      added.forEach(piece -> piece.records().close());
      throw e;
    }
  }

  private void copy(List<Piece> added, Variable variable, Tensor tensor, long localRow) {
    int recordBytes = variable.schema().fixedBytes();
    int pieceRows = Math.max(1, PIECE_BYTES / recordBytes);
    long segmentStart = 0;
    for (Segment segment : variable.ownSegments()) {
      long first = Math.max(localRow, segmentStart);
      long end = Math.min(localRow + tensor.rows(), segmentStart + segment.rows());
      for (long row = first; row < end; row += pieceRows) {
        int bytes = (int) Math.min(pieceRows, end - row) * recordBytes;
        OffHeapBuffer copy = allocator.apply(bytes);
        added.add(new Piece(variable, segment, row - segmentStart, copy, bytes));
        tensor.memory().read((row - localRow) * recordBytes, copy.buffer(), 0, bytes);
      }
      segmentStart += segment.rows();
    }
  }

  /**
   * Returns a bit set of the variables with staged rows.
   *
   * @param variables all variables, in the order of the bits
   */
  BitSet changed(Collection<Variable> variables) {
    BitSet changed = new BitSet();
    int bit = 0;
    for (Variable variable : variables) {
      changed.set(bit++, pieces.stream().anyMatch(piece -> piece.variable() == variable));
    }
    return changed;
  }

  /**
   * Returns the variables that at least one rank changes.
   *
   * @param changedByRank bytes of {@link #changed} of each rank
   */
  static List<Variable> changedOnAny(Collection<Variable> variables, byte[]... changedByRank) {
    BitSet changed = new BitSet();
    for (byte[] bits : changedByRank) {
      changed.or(BitSet.valueOf(bits));
    }
    List<Variable> all = List.copyOf(variables);
    return changed.stream().mapToObj(all::get).toList();
  }

  /**
   * Writes all staged rows in the order of staging. All changing segments are marked from before
   * the first write until after the last one: if this process ends or this method fails in between,
   * no reader treats their rows as stable.
   */
  void apply() {
    try {
      List<Segment> changing = pieces.stream().map(Piece::segment).distinct().toList();
      changing.forEach(Segment::beginChange);
      for (Piece piece : pieces) {
        ByteBuffer records = piece.records().buffer().duplicate().limit(piece.bytes());
        piece.segment().overwrite(piece.row(), records);
      }
      changing.forEach(Segment::endChange);
    } finally {
      close();
    }
  }

  @Override
  public void close() {
    pieces.forEach(piece -> piece.records().close());
    pieces.clear();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;

/**
 * A reduction of the arrays of all ranks. Each element is combined in rank order on whichever rank
 * computes it, so all ranks get the same bits. Needs extra heap of one slot.
 *
 * <p>A short array is posted whole, and every rank reduces all of it: one round. A long one is cut
 * into slices; each rank reduces its own part of a slice, and posts the result together with the
 * next slice. So each rank sends and reads 2 (n - 1) / n of the array, which is the minimum
 * (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009;
 * reduce-scatter and all-gather as in Thakur, Rabenseifner and Gropp, Optimization of collective
 * communication operations in MPICH, 2005), where whole arrays would take n - 1 times the array.
 */
final class Reduction {
  /**
   * Largest array that is posted whole, in bytes. Four processes on two cores (CollectiveBenchmark,
   * medians) reduced 64 KiB by message in 440 us whole and in 570 us in parts, 256 KiB in 4.5 ms
   * and 1.3 ms.
   */
  private static final int WHOLE_BYTES = 64 * 1024;

  private final Elements elements;
  private final int length;
  private final int elementBytes;

  Reduction(Elements elements) {
    this.elements = elements;
    this.length = elements.length();
    this.elementBytes = elements.elementBytes();
  }

  void run(Rounds rounds) {
    if (elements.bytes() <= WHOLE_BYTES || rounds.size() == 1 || longest(rounds.size()) == 0) {
      runWhole(rounds);
    } else {
      runInParts(rounds);
    }
  }

  private void runWhole(Rounds rounds) {
    int step = Lane.SLOT_BYTES / elementBytes;
    int from = 0;
    do {
      int count = Math.min(step, length - from);
      elements.write().run(rounds.nextPiece(), from, count);
      rounds.step(elements.bytes(), PieceParts.common(count * elementBytes));
      reduce(rounds, r -> 0, from, count);
      from += count;
    } while (from < length);
  }

  /** Reduces in parts: a piece is the reduced part of a slice, followed by the next slice. */
  private void runInParts(Rounds rounds) {
    int size = rounds.size();
    int rank = rounds.rank();
    Slice before = new Slice(0, 0, size);
    do {
      Slice next = new Slice(before.end(), Math.min(step(size), length - before.end()), size);
      Slice reduced = before;
      int reducedMine = reduced.count(rank);
      elements.write().run(rounds.nextPiece(), reduced.first(rank), reducedMine);
      elements.write().run(at(rounds.nextPiece(), reducedMine), next.from(), next.count());
      rounds.step(
          elements.bytes(),
          new PieceParts(reducedMine * elementBytes, next.count(), elementBytes, size));
      for (int r = 0; r < size; r++) {
        if (r != rank) {
          elements.read().run(rounds.piece(r), reduced.first(r), reduced.count(r));
        }
      }
      int offset = next.first(rank) - next.from();
      reduce(rounds, r -> reduced.count(r) + offset, next.first(rank), next.count(rank));
      before = next;
    } while (before.count() > 0);
  }

  /** Returns the elements of a slice, which fits a slot together with a part of another. */
  private int step(int ranks) {
    int slices = (length - 1) / longest(ranks) + 1;
    return (length - 1) / slices + 1;
  }

  /** Returns the elements of the longest slice; 0 if a slot is too small for a part per rank. */
  private int longest(int ranks) {
    return (Lane.SLOT_BYTES / elementBytes - 1) / (ranks + 1) * ranks;
  }

  /** Combines elements of all pieces, in rank order. */
  private void reduce(Rounds rounds, IntUnaryOperator inPieceOf, int from, int count) {
    elements.read().run(at(rounds.piece(0), inPieceOf.applyAsInt(0)), from, count);
    for (int r = 1; r < rounds.size(); r++) {
      elements.join().run(at(rounds.piece(r), inPieceOf.applyAsInt(r)), from, count);
    }
    elements.settle().run(from, count);
  }

  private ByteBuffer at(ByteBuffer piece, int element) {
    return Elements.at(piece, element, elementBytes);
  }

  /** A run of elements, which the ranks reduce in balanced parts. */
  private record Slice(int from, int count, int ranks) {
    int end() {
      return from + count;
    }

    /** Returns the first element of a rank's part. */
    int first(int rank) {
      return from + PieceParts.firstElement(count, rank, ranks);
    }

    int count(int rank) {
      return first(rank + 1) - first(rank);
    }
  }
}

package org.ddstore.spark.ingest;

import java.util.Iterator;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;

/** A function that adds two columns to rows: a pseudorandom number and the source position. */
final class Positions implements Function2<Integer, Iterator<InternalRow>, Iterator<InternalRow>> {
  private static final long serialVersionUID = 1L;

  private final long seed;

  /** Position of the first row of each partition. */
  private final long[] firstPositions;

  Positions(long seed, long... firstPositions) {
    this.seed = seed;
    this.firstPositions = firstPositions;
  }

  @Override
  public Iterator<InternalRow> call(Integer partition, Iterator<InternalRow> rows) {
    GenericInternalRow places = new GenericInternalRow(2);
    JoinedRow joined = new JoinedRow();
    return new Iterator<>() {
      private long position = firstPositions[partition];

      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public InternalRow next() {
        places.setLong(0, draw(seed, position));
        places.setLong(1, position++);
        return joined.apply(rows.next(), places);
      }
    };
  }

  /** Returns a keyed hash of the position: two SplitMix64 finalizers with the seed between. */
  static long draw(long seed, long position) {
    return mix(mix(position + 0x9E3779B97F4A7C15L) ^ mix(seed));
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}

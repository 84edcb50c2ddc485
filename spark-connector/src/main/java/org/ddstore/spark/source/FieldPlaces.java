// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

/** The memory locations of the fields of the rows of one batch. */
interface FieldPlaces {
  /** Returns the locations of a fixed field; {@code field} is its index in the schema. */
  Places fixed(int field);

  /** Returns the location of the first value of a ragged field, by row. */
  Places ragged(int field);

  /** Returns the number of rows of inner shape of a ragged field, by row; do not modify. */
  int[] counts(int field);

  /** Returns whether the memory is unchanged until the task ends, or only until the next batch. */
  boolean lasting();

  /** Returns these locations, whose memory stays valid while any of the threads can read it. */
  default FieldPlaces readBy(ReaderThreads readers) {
    return new Leased(this, readers);
  }

  /** Locations of the fields of a batch whose memory stays valid while any thread can read it. */
  record Leased(FieldPlaces places, ReaderThreads readers) implements FieldPlaces {
    @Override
    public Places fixed(int field) {
      return places.fixed(field).readBy(readers);
    }

    @Override
    public Places ragged(int field) {
      return places.ragged(field).readBy(readers);
    }

    @Override
    public int[] counts(int field) {
      return places.counts(field);
    }

    @Override
    public boolean lasting() {
      return places.lasting();
    }
  }
}

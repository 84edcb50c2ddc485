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
}

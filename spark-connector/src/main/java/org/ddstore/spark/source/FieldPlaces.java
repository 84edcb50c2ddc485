package org.ddstore.spark.source;

/** Where the fields of the rows of one batch lie in memory. */
interface FieldPlaces {
  /** Where the values of a fixed field are; {@code field} counts those of the schema. */
  Places fixed(int field);

  /** Where the first value of a ragged field is, by row. */
  Places ragged(int field);

  /** How many rows of its inner shape a ragged field has, by row; not to be changed. */
  int[] counts(int field);

  /** Whether all stays as it is until the task ends; else only until the next batch. */
  boolean lasting();
}

package org.ddstore.spark.ingest;

/**
 * How an undeclared column of arrays or vectors is stored. In the order of the constants: what fits
 * a form fits the later ones, so the form of a column is the largest that one of its rows needs,
 * whichever ranks hold the rows.
 */
public enum ArrayForm {
  /** All rows of one length above zero. */
  UNIFORM,
  RAGGED,
  /** Vectors only: size, indices and values. */
  SPARSE
}

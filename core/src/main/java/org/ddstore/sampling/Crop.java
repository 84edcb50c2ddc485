package org.ddstore.sampling;

/** A box cut out of a fixed field: which field, how large, and where for each sample. */
public interface Crop {
  /** The name of the field. */
  String field();

  /** The shape of the box: as many dimensions as the field has. */
  int[] shape();

  /**
   * Writes where the box of a sample begins, in each dimension of the field.
   *
   * @param epoch the number of the epoch
   * @param position of the sample in the epoch: the same sample may come at several
   */
  void origin(long epoch, long position, long sample, int[] origin);
}

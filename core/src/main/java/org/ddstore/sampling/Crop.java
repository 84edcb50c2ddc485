// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

/** A crop of a box out of a fixed field: the field, the size, and the position for each sample. */
public interface Crop {
  /** {@return the name of the field} */
  String field();

  /** {@return the shape of the box, with as many dimensions as the field has} */
  int[] shape();

  /**
   * Writes the origin of a sample's box, in each dimension of the field.
   *
   * @param epoch epoch number
   * @param position position of the sample in the epoch; the same sample can be at several
   * @param sample number of the sample
   * @param origin array for the first element of the crop in each dimension
   */
  void origin(long epoch, long position, long sample, int[] origin);
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.nio.ByteBuffer;
import org.ddstore.types.DType;
import org.ddstore.types.Internal;

/**
 * A column vector of Spark that can give its values as a store keeps them. A load copies them in
 * blocks, without a Java object per row.
 */
@Internal
public interface PackedVector {
  /**
   * Returns the values of all rows of the batch, one after the other.
   *
   * @param type element type of the field
   * @param elements number of elements per row
   * @return little-endian elements from position to limit, valid until the next batch is read and
   *     not to be changed; null if a value is null, or not of this type and number of elements
   */
  ByteBuffer packed(DType type, int elements);
}

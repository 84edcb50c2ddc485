// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.types;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.ddstore.types.DType;
import org.ddstore.types.Field;

/**
 * The declaration of a field in the metadata of a DataFrame's column: a data source that knows type
 * and shape of its values declares them, so that users need not. A declaration by the user takes
 * precedence.
 */
public final class FieldMetadata {
  /** Key of the declaration. */
  private static final String KEY = "ddstore.field";

  private static final String DTYPE = "dtype";
  private static final String SHAPE = "shape";
  private static final String RAGGED = "ragged";

  private FieldMetadata() {}

  /**
   * {@return metadata that declares a field}
   *
   * @param field type and shape of the values; its name is not part of the metadata
   */
  public static Metadata of(Field field) {
    Metadata declaration =
        new MetadataBuilder()
            .putString(DTYPE, field.dtype().toString())
            .putLongArray(SHAPE, Arrays.stream(field.shape()).asLongStream().toArray())
            .putBoolean(RAGGED, field.isRagged())
            .build();
    return new MetadataBuilder().putMetadata(KEY, declaration).build();
  }

  /**
   * {@return the field that the metadata of a column declares; empty if it declares none}
   *
   * @param name name of the field
   * @param metadata metadata of a column
   * @throws IllegalArgumentException if the declaration is malformed
   */
  public static Optional<Field> field(String name, Metadata metadata) {
    if (!metadata.contains(KEY)) {
      return Optional.empty();
    }
    try {
      Metadata declaration = metadata.getMetadata(KEY);
      String dtypeName = declaration.getString(DTYPE);
      DType dtype =
          Arrays.stream(DType.values())
              .filter(known -> known.toString().equals(dtypeName))
              .findFirst()
              .orElseThrow(() -> new IllegalArgumentException("unknown type " + dtypeName));
      int[] shape =
          Arrays.stream(declaration.getLongArray(SHAPE)).mapToInt(Math::toIntExact).toArray();
      return Optional.of(
          declaration.getBoolean(RAGGED)
              ? Field.ragged(name, dtype, shape)
              : Field.fixed(name, dtype, shape));
    } catch (RuntimeException e) { // of Scala: missing keys, other types
      throw new IllegalArgumentException(
          "column %s: the metadata \"%s\" is not a declaration of a field: %s"
              .formatted(name, KEY, metadata.json()),
          e);
    }
  }
}

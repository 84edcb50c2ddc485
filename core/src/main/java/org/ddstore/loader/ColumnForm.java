// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** A form that a column must have to be used for a purpose. */
enum ColumnForm {
  NUMBER("one number per row"),
  INTEGER("one integer or truth value per row"),
  TEXT("text"),
  RAGGED("a ragged field, text or bytes");

  private final String words;

  ColumnForm(String words) {
    this.words = words;
  }

  private boolean accepts(Field field) {
    boolean isScalar = !field.isRagged() && field.elements() == 1;
    return switch (this) {
      case NUMBER -> isScalar;
      case INTEGER -> isScalar && !isFloating(field);
      case TEXT -> field.kind() == Field.Kind.STRING;
      case RAGGED -> field.isRagged();
    };
  }

  private static boolean isFloating(Field field) {
    return switch (field.dtype()) {
      case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> true;
      default -> false;
    };
  }

  boolean isOf(Schema schema, String name) {
    return schema.fields().stream().anyMatch(field -> field.name().equals(name) && accepts(field));
  }

  /** Returns the field, or rejects one of another form with a message that names the call. */
  Field check(String call, Field field) {
    if (!accepts(field)) {
      throw new IllegalArgumentException("%s: %s is not %s".formatted(call, field, words));
    }
    return field;
  }
}

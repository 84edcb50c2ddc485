// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

import java.util.Locale;

/** The type of one element of a {@link Field}, stored little-endian without padding. */
public enum DType {
  /** One byte, 0 or 1. */
  BOOL(1, 1),
  /** An 8-bit signed integer. */
  INT8(2, 1),
  /** An 8-bit unsigned integer. */
  UINT8(3, 1),
  /** A 16-bit signed integer. */
  INT16(4, 2),
  /** A 32-bit signed integer. */
  INT32(5, 4),
  /** A 64-bit signed integer. */
  INT64(6, 8),
  /** IEEE 754 binary16, carried as its raw two bytes. */
  FLOAT16(7, 2),
  /** The upper half of a binary32, carried as its raw two bytes. */
  BFLOAT16(8, 2),
  /** A 32-bit IEEE 754 number. */
  FLOAT32(9, 4),
  /** A 64-bit IEEE 754 number. */
  FLOAT64(10, 8);

  private static final DType[] BY_CODE = new DType[11];

  static {
    for (DType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final int code;
  private final int bytes;

  DType(int code, int bytes) {
    this.code = code;
    this.bytes = bytes;
  }

  /** {@return the size of one element in bytes: 1, 2, 4 or 8} */
  public int bytes() {
    return bytes;
  }

  /** {@return the stable number of this type in segment headers (docs/segment-format.md)} */
  public int code() {
    return code;
  }

  /**
   * {@return the type with this {@link #code()}}
   *
   * @param code stored number of a type
   * @throws IllegalArgumentException if no type has it
   */
  public static DType ofCode(int code) {
    if (code < 1 || code >= BY_CODE.length) {
      throw new IllegalArgumentException("element type code " + code + " outside [1, 10]");
    }
    return BY_CODE[code];
  }

  /** Returns the lower-case name that array libraries use: {@code float32}, {@code uint8}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.SaveMode;

/** The effect of a write if a store of that name exists. */
enum WriteMode {
  /** The write fails. */
  CREATE,

  /** The write does nothing. */
  IGNORE,

  /** The write appends rows to the store. */
  APPEND,

  /** Replaces its rows; keeps its options if the write has none and the columns are equal. */
  OVERWRITE,

  /** Replaces the store, including its options. */
  REPLACE;

  static WriteMode of(SaveMode mode) {
    return switch (mode) {
      case ErrorIfExists -> CREATE;
      case Ignore -> IGNORE;
      case Append -> APPEND;
      case Overwrite -> OVERWRITE;
    };
  }
}

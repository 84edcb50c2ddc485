package org.ddstore.spark.source;

import org.apache.spark.sql.SaveMode;

/** What a write does with the store of its name, if there is one. */
enum WriteMode {
  /** Is refused. */
  CREATE,

  /** Does nothing. */
  IGNORE,

  /** Adds rows to it. */
  APPEND,

  /** Takes the place of its rows; without options of its own, and for the same columns, by its. */
  OVERWRITE,

  /** Takes its place: nothing of it stays. */
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.ddstore.spark.types.OptionKeys;

/** The options of one column, by their names in each {@link Wording}. */
enum ColumnOption {
  TYPE("field(\"%s\", ..)", OptionKeys.TYPE_PREFIX, "--type %s=TYPE"),
  FILL_NULLS("fillNulls(\"%s\", ..)", OptionKeys.FILL_NULLS_PREFIX, "--fill-nulls %s=VALUE"),
  PAD("pad(\"%s\", ..)", OptionKeys.PAD_PREFIX, "--pad %s=VALUE"),
  TRUNCATE("truncate(\"%s\")", OptionKeys.TRUNCATE_PREFIX, "--truncate %s"),
  DECIMALS("decimals(.., \"%s\")", OptionKeys.DECIMALS_PREFIX, "--decimals %s=FORM");

  private final String method;
  private final String prefix;
  private final String flag;

  ColumnOption(String method, String prefix, String flag) {
    this.method = method;
    this.prefix = prefix;
    this.flag = flag;
  }

  String of(String column, Wording wording) {
    return switch (wording) {
      case METHODS -> method.formatted(column);
      case OPTIONS, QUERY -> "option \"%s%s\"".formatted(prefix, column);
      case FLAGS -> flag.formatted(column);
    };
  }
}

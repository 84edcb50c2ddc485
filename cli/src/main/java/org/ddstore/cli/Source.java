// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.ingest.LeafTypes;
import org.ddstore.spark.ingest.ValueNotation;
import org.ddstore.spark.ingest.Wording;

/** The store spec of options; separate because options load without Spark. */
final class Source {
  private Source() {}

  /**
   * Returns the specification that the options describe.
   *
   * @throws IllegalArgumentException if a value does not fit its column
   */
  static StoreSpec spec(Dataset<Row> rows, SourceOptions options) {
    StoreSpec spec = DDStores.from(rows).wording(Wording.FLAGS);
    if (!options.fields.isEmpty()) {
      spec = spec.columns(options.fields.toArray(new String[0]));
    }
    for (FieldType type : options.types) {
      spec = type.declareIn(spec);
    }
    spec = withValues(spec, rows, options);
    for (String column : options.truncated) {
      spec = spec.truncate(column);
    }
    for (ColumnValue decimals : options.decimals) {
      spec =
          decimals.column().isEmpty()
              ? spec.decimals(decimals.form())
              : spec.decimals(decimals.form(), decimals.column());
    }
    List<String> orderBy = options.orderBy;
    return orderBy.isEmpty() ? spec : spec.orderBy(orderBy.toArray(new String[0]));
  }

  /** Returns the specification with the values of fills and pads, parsed by their columns. */
  private static StoreSpec withValues(StoreSpec plain, Dataset<Row> rows, SourceOptions options) {
    StoreSpec spec = plain;
    Map<String, DataType> types = LeafTypes.of(rows.schema());
    ValueNotation notation = ValueNotation.of(rows.sparkSession());
    for (ColumnValue fill : options.fills) {
      String flag = "--fill-nulls " + fill.column();
      DataType type = type(types, flag, fill.column());
      spec = spec.fillNulls(fill.column(), notation.fill(flag, type, fill.value()));
    }
    for (ColumnValue pad : options.pads) {
      String flag = "--pad " + pad.column();
      DataType type = type(types, flag, pad.column());
      spec = spec.pad(pad.column(), notation.pad(flag, type, pad.value()));
    }
    return spec;
  }

  private static DataType type(Map<String, DataType> types, String flag, String column) {
    DataType type = types.get(column);
    if (type == null) {
      throw new IllegalArgumentException(
          "%s: no such column: choose one of %s".formatted(flag, types.keySet()));
    }
    return type;
  }
}

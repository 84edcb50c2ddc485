// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.ingest.Wording;

/** The store spec of options; separate because options load without Spark. */
final class Source {
  private Source() {}

  static StoreSpec spec(Dataset<Row> rows, SourceOptions options) {
    StoreSpec spec = DDStores.from(rows).wording(Wording.FLAGS);
    if (!options.fields().isEmpty()) {
      spec = spec.columns(options.fields().toArray(new String[0]));
    }
    for (FieldType type : options.types()) {
      spec = type.declareIn(spec);
    }
    List<String> orderBy = options.orderBy();
    return orderBy.isEmpty() ? spec : spec.orderBy(orderBy.toArray(new String[0]));
  }
}

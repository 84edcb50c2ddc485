// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.types.IngestException;
import org.junit.jupiter.api.Test;

/** Messages of commands about rows that cannot be loaded. */
class SourceTest {
  @Test
  void remediesNameFlags() throws IOException {
    try (SparkSession spark = ParquetSamples.session()) {
      Dataset<Row> rows = spark.range(4).selectExpr("array(array(id)) as m");
      StoreSpec spec = Source.spec(rows, new SourceOptions()).ranks(2);
      assertThatThrownBy(() -> spec.run(context -> 0))
          .isInstanceOf(IngestException.class)
          .hasMessageContaining("--type m=int64[28,28], or m=int64[?,28]");

      StoreSpec nulls =
          Source.spec(rows.selectExpr("cast(null as int) as n"), new SourceOptions()).ranks(2);
      assertThatThrownBy(() -> nulls.run(context -> 0))
          .isInstanceOf(IngestException.class)
          .hasMessageEndingWith(
              "null; set a value with --fill-nulls n=VALUE, write files without nulls, or leave the"
                  + " column out with --fields");
    }
  }
}

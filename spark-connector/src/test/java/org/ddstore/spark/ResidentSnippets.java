// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.function.Consumer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Batch;

/** The programs that docs/resident.md shows, which {@link ResidentSnippetsTest} runs. */
final class ResidentSnippets {
  private ResidentSnippets() {}

  static ResidentStore dumpAndRestore(SparkSession spark, ResidentStore store, String path) {
    // resident.md: dump
    store.dump(path); // hdfs://, s3a:// or a local directory; blocks
    // later, also in another application:
    ResidentStore restored = DDStores.restore(spark, path).ranks(3).load("restored");
    // resident.md: end
    return restored;
  }

  // resident.md: model
  /** A model that is opened once per task. */
  static final class Doubling implements BatchMapper {
    private final double[] weights = {2}; // read from a file or a broadcast variable

    @Override
    public void map(Batch batch, long firstRow, Consumer<Row> output) {
      for (int i = 0; i < batch.rows(); i++) {
        output.accept(RowFactory.create(firstRow + i, weights[0] * batch.field("id").getLong(i)));
      }
    }
  }

  // resident.md: end

  static Dataset<Row> predictions(ResidentStore store) {
    // resident.md: map
    StructType schema =
        new StructType().add("row", DataTypes.LongType).add("prediction", DataTypes.DoubleType);
    Dataset<Row> predictions = store.map(Doubling::new, schema, 1024);
    // resident.md: end
    return predictions;
  }
}

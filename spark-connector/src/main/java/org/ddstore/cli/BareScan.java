package org.ddstore.cli;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;

/** A scan that does nothing with its rows but turn each array of floats into a Java array. */
final class BareScan {
  private BareScan() {}

  static void run(Dataset<Row> frame) {
    frame.queryExecution().toRdd().toJavaRDD().mapPartitions(BareScan::elements).collect();
  }

  private static Iterator<Long> elements(Iterator<InternalRow> rows) {
    long elements = 0;
    while (rows.hasNext()) {
      elements += rows.next().getArray(0).toFloatArray().length;
    }
    return List.of(elements).iterator();
  }
}

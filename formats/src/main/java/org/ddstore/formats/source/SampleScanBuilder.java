// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** A scan of the columns that a query needs. */
final class SampleScanBuilder implements ScanBuilder, SupportsPushDownRequiredColumns {
  private final DataSet data;
  private final StructType all;
  private StructType required;

  SampleScanBuilder(DataSet data, StructType all) {
    this.data = data;
    this.all = all;
    this.required = all;
  }

  @Override
  public void pruneColumns(StructType schema) {
    required = schema;
  }

  @Override
  public Scan build() {
    Map<String, Integer> places = new HashMap<>();
    for (String name : all.fieldNames()) {
      places.put(name, places.size());
    }
    int[] ordinals = new int[required.size()];
    StructType place = null;
    for (int i = 0; i < ordinals.length; i++) {
      StructField field = required.fields()[i];
      int at = places.getOrDefault(field.name(), -1);
      if (at < 0) {
        place = (StructType) field.dataType();
      }
      ordinals[i] = at < 0 ? DataSet.Selection.PLACE : data.selection().ordinals()[at];
    }
    return new SampleScan(data.select(place, ordinals), required);
  }
}

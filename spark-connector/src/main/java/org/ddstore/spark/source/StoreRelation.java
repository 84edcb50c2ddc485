// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.types.StructType;

/** A store as a relation of Spark's data source API version 1, the target of writes. */
final class StoreRelation extends BaseRelation implements InsertableRelation {
  private final SQLContext context;
  private final String name;
  private final WriteOptions options;
  private final WriteMode mode;
  private final StructType schema;

  /**
   * @param mode mode of an insert that does not overwrite
   */
  StoreRelation(
      SQLContext context, String name, WriteOptions options, WriteMode mode, StructType schema) {
    this.context = context;
    this.name = name;
    this.options = options;
    this.mode = mode;
    this.schema = schema;
  }

  @Override
  public SQLContext sqlContext() {
    return context;
  }

  @Override
  public StructType schema() {
    return schema;
  }

  @Override
  public void insert(Dataset<Row> rows, boolean overwrite) {
    StoreWriter.write(name, overwrite ? WriteMode.OVERWRITE : mode, options, rows);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.OptionKeys;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The data source {@code ddstore} of Spark SQL: {@code spark.read().format("ddstore")}, {@code
 * df.write().format("ddstore")}, {@code CREATE TEMPORARY VIEW .. USING ddstore}. Created by Spark,
 * by its short name.
 *
 * <p>It reads through version 2 of the data source API and writes through version 1, which supports
 * all modes of {@code df.write} for existing and for new tables.
 */
public final class DDStoreSource
    implements TableProvider, DataSourceRegister, CreatableRelationProvider {
  public DDStoreSource() {}

  @Override
  public String shortName() {
    return OptionKeys.FORMAT;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    if (CommandTable.isCommand(options)) {
      return CommandTable.schemaOf(options);
    }
    SparkSession session = SparkSession.active();
    ReadOptions read = ReadOptions.of(options);
    ResidentStore store = DDStores.open(session, read.name());
    StoreSample sample = StoreSample.of(options);
    if (sample != null) {
      sample.check(store.rows(), store.name());
    }
    return DDStoreTable.schemaOf(store, read);
  }

  /**
   * Returns the table; before a write also called with its options, for stores yet to be created.
   */
  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    if (partitioning.length > 0) {
      throw new IllegalArgumentException("a store has no partitions: remove partitionBy");
    }
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(properties);
    if (CommandTable.isCommand(options)) {
      return new CommandTable(options);
    }
    return new DDStoreTable(
        new ReadOptions(ReadOptions.storeName(options), options.get(OptionKeys.INDEX_COLUMN)),
        schema);
  }

  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public BaseRelation createRelation(
      SQLContext context,
      SaveMode mode,
      scala.collection.immutable.Map<String, String> parameters,
      Dataset<Row> rows) {
    WriteOptions options = new WriteOptions(CollectionConverters.asJava(parameters));
    String name = options.storeName();
    StoreWriter.write(name, WriteMode.of(mode), options, rows);
    return new StoreRelation(context, name, options, WriteMode.APPEND, rows.schema());
  }

  /** Returns true for all types, because the load checks them and reports a remedy. */
  @Override
  public boolean supportsDataType(DataType type) {
    return true;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreTable;

/**
 * A resident store as a table, looked up by name when it is read. The metadata column {@code
 * __index} is the global index of a row.
 */
class DDStoreTable implements SupportsRead, SupportsMetadataColumns, StoreTable {
  static final String INDEX = "__index";

  private final ReadOptions options;
  private final StructType schema;

  /** The store at the time of the table lookup; null if it did not exist. */
  private final ResidentStore store;

  private final long rows;

  /**
   * @param schema schema of the store's rows and of the index column set by the options
   */
  DDStoreTable(ReadOptions options, StructType schema) {
    this.options = options;
    this.schema = schema;
    this.store = StoreWriter.find(SparkSession.active(), options.name()).orElse(null);
    this.rows = store == null ? 0 : store.rows();
  }

  /**
   * Returns the schema of the table described by the options.
   *
   * @throws IllegalArgumentException if the store has a column with the name of the index column
   */
  static StructType schemaOf(ResidentStore store, ReadOptions options) {
    StructType columns = store.sourceSchema();
    String index = options.indexColumn();
    if (index == null) {
      return columns;
    }
    for (String name : columns.fieldNames()) {
      if (name.equalsIgnoreCase(index)) {
        throw new IllegalArgumentException(
            "option \"indexColumn\" is \"%s\", but store \"%s\" has a column of that name; columns are %s"
                .formatted(index, store.name(), String.join(", ", columns.fieldNames())));
      }
    }
    return columns.add(index, DataTypes.LongType, false);
  }

  @Override
  public final String storeName() {
    return options.name();
  }

  @Override
  public final String name() {
    return "ddstore." + options.name();
  }

  @Override
  @Deprecated
  public final StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public final MetadataColumn[] metadataColumns() {
    return new MetadataColumn[] {new IndexColumn()};
  }

  @Override
  public final ScanBuilder newScanBuilder(CaseInsensitiveStringMap scanOptions) {
    options.checkScan(scanOptions);
    ResidentStore now = DDStores.open(SparkSession.active(), options.name());
    StructType actual = schemaOf(now, options);
    if (!DataType.equalsIgnoreNullability(actual, schema)) {
      throw new IllegalArgumentException(
          "store \"%s\" has the columns %s, not %s: remove the schema, or read the store again"
              .formatted(options.name(), actual.sql(), schema.sql()));
    }
    StoreSample sample = StoreSample.of(scanOptions);
    long population = now == store ? rows : now.rows(); // later appends do not change a sample
    return new DDStoreScanBuilder(
        now,
        schema,
        options.indexColumn(),
        sample == null ? null : sample.of(population, options.name()));
  }

  /**
   * Compares tables by rows and names; Spark finds the cached data of a table by it. A store that
   * was appended to or replaced is a different table, because its rows are not in the same cache.
   */
  @Override
  public final boolean equals(Object other) {
    return this == other
        || (store != null
            && other instanceof DDStoreTable that
            && getClass() == that.getClass()
            && store.equals(that.store)
            && rows == that.rows
            && options.equals(that.options)
            && schema.equals(that.schema));
  }

  @Override
  public final int hashCode() {
    return options.hashCode();
  }

  @Override
  public final String toString() {
    return name();
  }

  private static final class IndexColumn implements MetadataColumn {
    @Override
    public String name() {
      return INDEX;
    }

    @Override
    public DataType dataType() {
      return DataTypes.LongType;
    }

    @Override
    public boolean isNullable() {
      return false;
    }

    @Override
    public String comment() {
      return "the global index of the row";
    }
  }
}

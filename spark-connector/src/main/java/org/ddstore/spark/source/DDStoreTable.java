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
 * A resident store as a table, found by its name when it is read. Its rows have their global index
 * in the metadata column {@code __index}.
 */
class DDStoreTable implements SupportsRead, SupportsMetadataColumns, StoreTable {
  static final String INDEX = "__index";

  private final ReadOptions options;
  private final StructType schema;

  /** The store as it was when the table was looked up; null if there was none. */
  private final ResidentStore store;

  private final long rows;

  /**
   * @param schema of the store's rows, and of the index column that the options name
   */
  DDStoreTable(ReadOptions options, StructType schema) {
    this.options = options;
    this.schema = schema;
    this.store = StoreWriter.find(SparkSession.active(), options.name()).orElse(null);
    this.rows = store == null ? 0 : store.rows();
  }

  /**
   * The schema of the table that the options describe.
   *
   * @throws IllegalArgumentException if there is no such store, or it has a column that is called
   *     as the index is to be
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
            "option \"indexColumn\" is \"%s\", but store \"%s\" has such a column; there are %s"
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
  public final ScanBuilder newScanBuilder(CaseInsensitiveStringMap ofTheScan) {
    options.checkScan(ofTheScan);
    ResidentStore now = DDStores.open(SparkSession.active(), options.name());
    StructType actual = schemaOf(now, options);
    if (!DataType.equalsIgnoreNullability(actual, schema)) {
      throw new IllegalArgumentException(
          "store \"%s\" has the columns %s, not %s: leave the schema out, or read it anew"
              .formatted(options.name(), actual.sql(), schema.sql()));
    }
    return new DDStoreScanBuilder(now, schema, options.indexColumn());
  }

  /**
   * The same rows under the same names: Spark finds by it what it has cached of a table. A store
   * that has been appended to, or that took the place of another, is another table: those rows are
   * not of the same cache.
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

  /** The global index of a row. */
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

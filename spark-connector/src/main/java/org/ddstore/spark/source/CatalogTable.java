// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.StoreProperties;

/** A store as a table of the catalog, which supports inserts. */
class CatalogTable extends DDStoreTable implements SupportsWrite {
  private final WriteMode mode;
  private final Map<String, String> properties;

  /**
   * @param mode mode of a plain insert
   * @param properties options of the load that creates the store; empty if the store exists
   */
  CatalogTable(
      ReadOptions options, StructType schema, WriteMode mode, Map<String, String> properties) {
    super(options, schema);
    this.mode = mode;
    this.properties = properties;
  }

  @Override
  public final Set<TableCapability> capabilities() {
    return EnumSet.of(
        TableCapability.BATCH_READ, TableCapability.V1_BATCH_WRITE, TableCapability.TRUNCATE);
  }

  /** Returns the facts of the store; none if it was dropped. */
  @Override
  public Map<String, String> properties() {
    return StoreWriter.find(SparkSession.active(), storeName())
        .map(StoreProperties::of)
        .orElse(Map.of());
  }

  @Override
  public final WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    Map<String, String> options = new HashMap<>(properties);
    options.putAll(info.options().asCaseSensitiveMap());
    return new Insert(new WriteOptions(options), info.schema());
  }

  /**
   * An insert; after {@link #truncate()}, which Spark also calls to replace a whole table, it
   * replaces all rows.
   */
  private final class Insert implements SupportsTruncate {
    private final WriteOptions options;
    private final StructType rows;
    private WriteMode insertMode = mode;

    Insert(WriteOptions options, StructType rows) {
      this.options = options;
      this.rows = rows;
    }

    @Override
    public WriteBuilder truncate() {
      insertMode = mode == WriteMode.APPEND ? WriteMode.OVERWRITE : mode;
      return this;
    }

    @Override
    public Write build() {
      WriteMode chosen = insertMode;
      return new V1Write() {
        @Override
        public InsertableRelation toInsertableRelation() {
          return new StoreRelation(
              SparkSession.active().sqlContext(), storeName(), options, chosen, rows);
        }

        @Override
        public String description() {
          return "ddstore %s, %s".formatted(storeName(), chosen);
        }
      };
    }
  }

  /**
   * A table of {@code CREATE TABLE .. AS SELECT}. A failed load leaves nothing behind and a
   * successful load publishes the store, so commit and abort do nothing.
   */
  static final class Staged extends CatalogTable implements StagedTable {
    Staged(ReadOptions options, StructType schema, WriteMode mode, Map<String, String> properties) {
      super(options, schema, mode, properties);
    }

    @Override
    public Map<String, String> properties() {
      return Map.of(); // the store that exists is another one
    }

    @Override
    public void commitStagedChanges() {}

    @Override
    public void abortStagedChanges() {}
  }
}

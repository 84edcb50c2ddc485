package org.ddstore.spark.source;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.types.StructType;

/**
 * A table of {@code CREATE TABLE .. AS SELECT}. A failed load leaves nothing behind and a
 * successful load publishes the store, so commit and abort do nothing.
 */
final class StagedStore extends CatalogTable implements StagedTable {
  StagedStore(
      ReadOptions options, StructType schema, WriteMode mode, Map<String, String> properties) {
    super(options, schema, mode, properties);
  }

  @Override
  public void commitStagedChanges() {}

  @Override
  public void abortStagedChanges() {}
}

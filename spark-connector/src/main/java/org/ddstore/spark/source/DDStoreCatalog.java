// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.OptionKeys;

/**
 * A catalog whose tables are the resident stores of the application, named {@code ddstore} by
 * default. Created by Spark; stateless except for its name.
 */
@SuppressWarnings("deprecation") // Spark 3.5 has only these signatures
public final class DDStoreCatalog implements StagingTableCatalog {
  private static final String OPTION_PREFIX = "option.";

  /** Table properties that Spark sets itself. */
  private static final List<String> OF_SPARK =
      List.of(
          "provider",
          "owner",
          "comment",
          "location",
          "external",
          "is_managed_location",
          "table_type",
          "collation");

  private String name;

  public DDStoreCatalog() {}

  @Override
  public void initialize(String catalog, CaseInsensitiveStringMap options) {
    name = catalog;
  }

  @Override
  public String name() {
    return name;
  }

  private static SparkSession session() {
    return SparkSession.active();
  }

  private static Optional<ResidentStore> find(Identifier table) {
    return table.namespace().length > 0
        ? Optional.empty()
        : StoreWriter.find(session(), table.name());
  }

  @Override
  public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
    if (namespace.length > 0) {
      throw new NoSuchNamespaceException(namespace);
    }
    return DDStores.list(session()).stream()
        .map(store -> Identifier.of(namespace, store.name()))
        .toArray(Identifier[]::new);
  }

  @Override
  public boolean tableExists(Identifier table) {
    return find(table).isPresent();
  }

  @Override
  public Table loadTable(Identifier table) throws NoSuchTableException {
    ResidentStore store = find(table).orElse(null);
    if (store == null && table.namespace().length == 0 && isReadByQuery()) {
      store = DDStores.open(session(), table.name()); // throws, and names the known stores
    }
    if (store == null) {
      throw new NoSuchTableException(table);
    }
    return new CatalogTable(
        new ReadOptions(store.name(), null), store.sourceSchema(), WriteMode.APPEND, Map.of());
  }

  /**
   * Returns whether Spark resolves the table of a query. It then takes a missing table for a path
   * of files, and says so, while its other callers want to know that there is no table.
   */
  private static boolean isReadByQuery() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames.anyMatch(
                    frame ->
                        frame.getClassName().startsWith("org.apache.spark.sql.catalyst.analysis.")
                            && frame.getMethodName().endsWith("resolveRelation")));
  }

  @Override
  public boolean dropTable(Identifier table) {
    Optional<ResidentStore> store = find(table);
    store.ifPresent(ResidentStore::drop);
    return store.isPresent();
  }

  @Override
  public StagedTable stageCreate(
      Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties)
      throws TableAlreadyExistsException {
    boolean ifNotExists = isIfNotExists();
    if (tableExists(table) && !ifNotExists) {
      throw new TableAlreadyExistsException(table);
    }
    WriteMode mode = ifNotExists ? WriteMode.IGNORE : WriteMode.CREATE;
    return staged(table, schema, partitions, mode, properties);
  }

  /**
   * Returns whether the running command is a {@code CREATE TABLE IF NOT EXISTS .. AS SELECT}. Spark
   * checks for the table before it stages it; another thread can create the table in between.
   */
  private static boolean isIfNotExists() {
    String execution = session().sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
    QueryExecution running =
        execution == null ? null : SQLExecution.getQueryExecution(Long.parseLong(execution));
    return running != null
        && running.logical() instanceof CreateTableAsSelect create
        && create.ignoreIfExists();
  }

  @Override
  public StagedTable stageReplace(
      Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties)
      throws NoSuchTableException {
    if (!tableExists(table)) {
      throw new NoSuchTableException(table);
    }
    return staged(table, schema, partitions, WriteMode.REPLACE, properties);
  }

  @Override
  public StagedTable stageCreateOrReplace(
      Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties) {
    return staged(table, schema, partitions, WriteMode.REPLACE, properties);
  }

  private StagedTable staged(
      Identifier table,
      StructType schema,
      Transform[] partitions,
      WriteMode mode,
      Map<String, String> properties) {
    if (table.namespace().length > 0) {
      throw new IllegalArgumentException(
          "store names have no namespace: use ddstore.%s".formatted(table.name()));
    }
    if (partitions.length > 0) {
      throw new IllegalArgumentException("a store has no partitions: remove PARTITIONED BY");
    }
    refuseOthers(properties);
    return new CatalogTable.Staged(
        new ReadOptions(table.name(), null), schema, mode, writeOptions(properties));
  }

  /**
   * Rejects tables that are not stores. The default provider of the session is accepted, because
   * {@code df.write().saveAsTable(..)} passes it implicitly.
   */
  private void refuseOthers(Map<String, String> properties) {
    String provider = properties.get(PROP_PROVIDER);
    if (provider != null
        && !provider.equalsIgnoreCase(OptionKeys.FORMAT)
        && !provider.equalsIgnoreCase(session().conf().get("spark.sql.sources.default"))) {
      throw new IllegalArgumentException(
          "tables of catalog \"%s\" are stores, not \"%s\": remove USING or format(..), or set ddstore there"
              .formatted(name, provider));
    }
    String location = properties.get(PROP_LOCATION);
    if (location != null) {
      throw new IllegalArgumentException(
          "a store is kept in executor memory, not at \"%s\": remove LOCATION or option \"path\"; options backing 'file' and directory keep it in files"
              .formatted(location));
    }
  }

  /** Returns the options of a write; Spark passes each of OPTIONS twice, once with a prefix. */
  private static Map<String, String> writeOptions(Map<String, String> properties) {
    Map<String, String> options = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    properties.forEach(
        (key, value) -> {
          String plain =
              key.startsWith(OPTION_PREFIX) ? key.substring(OPTION_PREFIX.length()) : key;
          if (!OF_SPARK.contains(plain.toLowerCase(Locale.ROOT))) {
            options.put(plain, value);
          }
        });
    return options;
  }

  /** Unsupported: a store is created from rows. */
  @Override
  public Table createTable(
      Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties) {
    throw new UnsupportedOperationException(
        "a store is created from rows: use CREATE TABLE %s.%s AS SELECT .."
            .formatted(name, table.name()));
  }

  /** Unsupported: a store cannot be changed except by appending rows. */
  @Override
  public Table alterTable(Identifier table, TableChange... changes) {
    throw new UnsupportedOperationException(
        "store \"%s\" cannot be altered: overwrite it".formatted(table.name()));
  }

  /** Unsupported: a store cannot be renamed. */
  @Override
  public void renameTable(Identifier from, Identifier to) {
    throw new UnsupportedOperationException(
        "store \"%s\" cannot be renamed: write its rows to a new store \"%s\""
            .formatted(from.name(), to.name()));
  }
}

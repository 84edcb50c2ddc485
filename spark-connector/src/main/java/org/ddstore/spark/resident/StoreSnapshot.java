// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.types.Schema;

/**
 * One state of a resident store, with everything that a process needs to read its rows. Contains
 * the token, with which any process can read the store. Immutable.
 */
public final class StoreSnapshot implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final StoreToken token;
  private final Settings settings;
  private final long version;
  private final long rows;
  private final StructType sourceSchema;
  private final List<ColumnMapping> columns;
  private final byte[][] catalogs;
  private final String digest;

  /**
   * @param sourceSchema stored columns of the DataFrame
   * @param columns fields of each leaf of the source schema
   * @param layout locations of the rows
   */
  public StoreSnapshot(
      String name,
      StoreToken token,
      Settings settings,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      ResidentLayout layout) {
    this.name = name;
    this.token = token;
    this.settings = settings;
    this.version = layout.version();
    this.rows = layout.rows();
    this.sourceSchema = sourceSchema;
    this.columns = List.copyOf(columns);
    this.catalogs = layout.catalogs().stream().map(Catalog::toBytes).toArray(byte[][]::new);
    this.digest = layout.digest();
  }

  public String name() {
    return name;
  }

  /** Returns the secret that the store's processes require of each reader. */
  public StoreToken token() {
    return token;
  }

  public Settings settings() {
    return settings;
  }

  /** Returns the number that identifies this state of the store. */
  public long version() {
    return version;
  }

  public long rows() {
    return rows;
  }

  public Schema schema() {
    return Catalog.parse(catalogs[0]).schema(StartedRank.ROWS);
  }

  /** Returns the stored columns of the DataFrame, in their order. */
  public StructType sourceSchema() {
    return sourceSchema;
  }

  /** Returns the fields of each leaf of {@link #sourceSchema()}. */
  public List<ColumnMapping> columns() {
    return columns;
  }

  /** Returns the locations of the rows: one catalog, of one full copy, per replica group. */
  public List<Catalog> catalogs() {
    return Arrays.stream(catalogs).map(Catalog::parse).toList();
  }

  /** Returns the digest that binds every index to the bytes of its record. */
  public String digest() {
    return digest;
  }

  @Override
  public String toString() {
    return "[\"%s\", %,d rows, version %d]".formatted(name, rows, version);
  }
}

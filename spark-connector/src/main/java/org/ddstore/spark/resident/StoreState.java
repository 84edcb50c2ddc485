// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.types.Schema;

/** One state of a resident store: its rows and their locations. Immutable. */
public abstract class StoreState implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final long version;
  private final long rows;
  private final StructType sourceSchema;
  private final List<ColumnMapping> columns;
  private final byte[][] catalogs;
  private final String digest;

  /**
   * @param version number that identifies this state of the store
   * @param sourceSchema stored columns of the DataFrame
   * @param columns fields of each leaf of the source schema
   * @param catalogs locations of the rows: one catalog, of one full copy, per replica group
   */
  StoreState(
      String name,
      long version,
      long rows,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      List<Catalog> catalogs,
      String digest) {
    this.name = name;
    this.version = version;
    this.rows = rows;
    this.sourceSchema = sourceSchema;
    this.columns = List.copyOf(columns);
    this.catalogs = catalogs.stream().map(Catalog::toBytes).toArray(byte[][]::new);
    this.digest = digest;
  }

  public final String name() {
    return name;
  }

  /** Returns the number that identifies this state of the store. */
  public final long version() {
    return version;
  }

  public final long rows() {
    return rows;
  }

  public final Schema schema() {
    return Catalog.parse(catalogs[0]).schema(StartedRank.ROWS);
  }

  /** Returns the stored columns of the DataFrame, in their order. */
  public final StructType sourceSchema() {
    return sourceSchema;
  }

  /** Returns the fields of each leaf of {@link #sourceSchema()}. */
  public final List<ColumnMapping> columns() {
    return columns;
  }

  /** Returns the locations of the rows: one catalog, of one full copy, per replica group. */
  public final List<Catalog> catalogs() {
    return Arrays.stream(catalogs).map(Catalog::parse).toList();
  }

  /** Returns the digest that binds every index to the bytes of its record. */
  public final String digest() {
    return digest;
  }

  @Override
  public String toString() {
    return "[\"%s\", %,d rows, version %d]".formatted(name, rows, version);
  }
}

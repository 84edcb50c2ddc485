package org.ddstore.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.StoreAttachment;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.types.Schema;

/**
 * All that a task or a UDF needs to read a resident store, to be captured by its closure. It shows
 * the store as it was when it was asked for: rows appended later are not in it, and rows whose
 * executor is lost and that are brought back by {@link ResidentStore#repair} are where it does not
 * know. It holds the store's token: who has it can read the store. Immutable.
 */
public final class StoreHandle implements Serializable {
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

  StoreHandle(
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

  /** The name of the store. */
  public String name() {
    return name;
  }

  /** How many rows it has. */
  public long rows() {
    return rows;
  }

  /** The schema of its records. */
  public Schema schema() {
    return Catalog.parse(catalogs[0]).schema(RankContext.ROWS);
  }

  /** The columns of the DataFrame that it holds, in their order, as the DataFrame has them. */
  public StructType sourceSchema() {
    return sourceSchema;
  }

  /** Which fields each leaf of {@link #sourceSchema()} became. */
  public List<ColumnMapping> columns() {
    return columns;
  }

  /** Where the rows are: a catalog for each replica group, each of one full copy. */
  public List<Catalog> catalogs() {
    return Arrays.stream(catalogs).map(Catalog::parse).toList();
  }

  /** Binds every index to the bytes of its record; see {@link ResidentStore#digest}. */
  public String digest() {
    return digest;
  }

  StoreToken token() {
    return token;
  }

  Settings settings() {
    return settings;
  }

  /** Tells this state of the store from other ones. */
  long version() {
    return version;
  }

  /**
   * Attaches this JVM to the store: in tasks, and on the driver. Local; the executors are not
   * asked. Rows that memory does not reach are asked for when they are read. What is read counts in
   * the metrics of Spark, as that of the reader {@code attached}.
   *
   * @return to be closed by the caller
   * @throws org.ddstore.types.DDStoreException if rows cannot be reached from here; it says which and why
   * @throws IllegalStateException outside of a process of Spark
   */
  public StoreReader attach() {
    return StoreAttachment.counted(this);
  }

  /**
   * As {@link #attach()}, by an attachment of its own, for those who count by themselves what they
   * read: it is not in the metrics.
   */
  public StoreReader attachUncounted() {
    return StoreAttachment.uncounted(this);
  }

  @Override
  public String toString() {
    return "StoreHandle[\"%s\", %,d rows, version %d]".formatted(name, rows, version);
  }
}

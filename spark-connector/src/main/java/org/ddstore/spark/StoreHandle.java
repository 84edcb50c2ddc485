package org.ddstore.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.spark.resident.StoreAttachment;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.types.Schema;

/**
 * All that a task or a UDF needs to read a resident store, to be captured by its closure. It shows
 * the store as it was when it was asked for: rows appended later are not in it, and rows whose
 * executor is lost and that are brought back by {@link ResidentStore#repair} are where it does not
 * know. It holds the store's token: who has it can read the store. Immutable.
 */
public final class StoreHandle implements Serializable {
  private static final long serialVersionUID = 1L;

  private final StoreSnapshot snapshot;

  StoreHandle(StoreSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** The name of the store. */
  public String name() {
    return snapshot.name();
  }

  /** How many rows it has. */
  public long rows() {
    return snapshot.rows();
  }

  /** The schema of its records. */
  public Schema schema() {
    return snapshot.schema();
  }

  /** The columns of the DataFrame that it holds, in their order, as the DataFrame has them. */
  public StructType sourceSchema() {
    return snapshot.sourceSchema();
  }

  /** Which fields each leaf of {@link #sourceSchema()} became. */
  public List<ColumnMapping> columns() {
    return snapshot.columns();
  }

  /** Where the rows are: a catalog for each replica group, each of one full copy. */
  public List<Catalog> catalogs() {
    return snapshot.catalogs();
  }

  /** Binds every index to the bytes of its record; see {@link ResidentStore#digest}. */
  public String digest() {
    return snapshot.digest();
  }

  StoreSnapshot snapshot() {
    return snapshot;
  }

  /**
   * Attaches this JVM to the store: in tasks, and on the driver. Local; the executors are not
   * asked. Rows that memory does not reach are asked for when they are read. What is read counts in
   * the metrics of Spark, as that of the reader {@code attached}.
   *
   * @return to be closed by the caller
   * @throws org.ddstore.types.DDStoreException if rows cannot be reached from here; it says which
   *     and why
   * @throws IllegalStateException outside of a process of Spark
   */
  public StoreReader attach() {
    return new StoreReader(StoreAttachment.counted(snapshot));
  }

  /**
   * As {@link #attach()}, by an attachment of its own, for those who count by themselves what they
   * read: it is not in the metrics.
   */
  public StoreReader attachUncounted() {
    return new StoreReader(StoreAttachment.uncounted(snapshot));
  }

  @Override
  public String toString() {
    return "StoreHandle" + snapshot;
  }
}

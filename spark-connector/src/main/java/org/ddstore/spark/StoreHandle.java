// SPDX-License-Identifier: Apache-2.0
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
 * A serializable handle by which tasks, UDFs and the driver attach to a resident store. It is a
 * snapshot of the store at the time of {@link ResidentStore#handle}: it does not contain rows that
 * are appended later, and it cannot locate rows that {@link ResidentStore#repair} moves to another
 * executor. It contains the store's token, and any process that holds the token can read the store.
 * Immutable.
 */
public final class StoreHandle implements Serializable {
  private static final long serialVersionUID = 1L;

  private final StoreSnapshot snapshot;

  StoreHandle(StoreSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  /** {@return the name of the store} */
  public String name() {
    return snapshot.name();
  }

  /** {@return the number of rows of the snapshot} */
  public long rows() {
    return snapshot.rows();
  }

  /** {@return the schema of the records} */
  public Schema schema() {
    return snapshot.schema();
  }

  /** {@return the stored columns of the DataFrame, with their original types and in their order} */
  public StructType sourceSchema() {
    return snapshot.sourceSchema();
  }

  /** {@return the fields that hold the values of each leaf of {@link #sourceSchema()}} */
  public List<ColumnMapping> columns() {
    return snapshot.columns();
  }

  /** {@return the locations of the rows: one catalog, of one full copy, per replica group} */
  public List<Catalog> catalogs() {
    return snapshot.catalogs();
  }

  /** {@return the digest of the rows; see {@link ResidentStore#digest}} */
  public String digest() {
    return snapshot.digest();
  }

  StoreSnapshot snapshot() {
    return snapshot;
  }

  /**
   * Attaches this JVM, an executor or the driver, to the store. Local: does not contact the
   * executors. Rows that are not reachable by memory are requested when they are read. The reads
   * count in Spark's metrics, under the reader {@code attached}.
   *
   * @return a reader that the caller must close
   * @throws org.ddstore.types.DDStoreException if rows are unreachable from this process; the
   *     message names the rows and the reason
   * @throws IllegalStateException if this process is neither a driver nor an executor of Spark
   */
  public StoreReader attach() {
    return new StoreReader(StoreAttachment.counted(snapshot));
  }

  /**
   * Attaches this JVM like {@link #attach()}, by a separate attachment whose reads do not count in
   * the metrics. For callers that count their reads themselves.
   *
   * @return a reader that the caller must close
   */
  public StoreReader attachUncounted() {
    return new StoreReader(StoreAttachment.uncounted(snapshot));
  }

  @Override
  public String toString() {
    return "StoreHandle" + snapshot;
  }
}

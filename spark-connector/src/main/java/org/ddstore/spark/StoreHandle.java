package org.ddstore.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.Schema;
import org.ddstore.spark.ingest.ColumnMapping;

/**
 * All that a task or a UDF needs to read a resident store, to be captured by its closure. It shows
 * the store as it was when it was asked for: rows appended later are not in it. It holds the
 * store's token: who has it can read the store.
 */
@SuppressWarnings("DoNotCallSuggester") // the bodies follow
public final class StoreHandle implements Serializable {
  private static final long serialVersionUID = 1L;

  StoreHandle() {}

  /** The name of the store. */
  public String name() {
    throw new UnsupportedOperationException();
  }

  /** How many rows it has. */
  public long rows() {
    throw new UnsupportedOperationException();
  }

  /** The schema of its records. */
  public Schema schema() {
    throw new UnsupportedOperationException();
  }

  /** The columns of the DataFrame that it holds, in their order, as the DataFrame has them. */
  public StructType sourceSchema() {
    throw new UnsupportedOperationException();
  }

  /** Which fields each leaf of {@link #sourceSchema()} became. */
  public List<ColumnMapping> columns() {
    throw new UnsupportedOperationException();
  }

  /** Where the rows are: a catalog for each replica group, each of one full copy. */
  public List<Catalog> catalogs() {
    throw new UnsupportedOperationException();
  }

  /**
   * Attaches this JVM to the store. In tasks and on the driver; blocks for a connection at most.
   *
   * @throws org.ddstore.DDStoreException if the store has been dropped, or rows of it are lost
   */
  public StoreReader attach() {
    throw new UnsupportedOperationException();
  }
}

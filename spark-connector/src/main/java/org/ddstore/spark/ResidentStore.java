package org.ddstore.spark;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Schema;

/**
 * A store whose shards stay in the executors between jobs, under a name of the application. Its
 * rows never change; {@link #append} adds more at the end. It lives until {@link #drop()}, or the
 * end of the application. On the driver; any thread.
 */
@SuppressWarnings("DoNotCallSuggester") // the bodies follow
public final class ResidentStore {
  ResidentStore() {}

  /** Its name, by which {@link DDStores#open} finds it. */
  public String name() {
    throw new UnsupportedOperationException();
  }

  /** How many rows it has now. */
  public long rows() {
    throw new UnsupportedOperationException();
  }

  /** Bytes of memory that one copy of its rows takes. */
  public long bytes() {
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

  /** How many ranks hold it. */
  public int ranks() {
    throw new UnsupportedOperationException();
  }

  /** Ranks of a replica group, which together hold one full copy. */
  public int width() {
    throw new UnsupportedOperationException();
  }

  /** Binds every index to the bytes of its record; the same for every number of ranks. */
  public String digest() {
    throw new UnsupportedOperationException();
  }

  /** Where its rows are, by rank and append, those of all replica groups. */
  public List<ResidentShard> shards() {
    throw new UnsupportedOperationException();
  }

  /** What ordinary tasks, UDFs and the driver attach with. */
  public StoreHandle handle() {
    throw new UnsupportedOperationException();
  }

  /**
   * Runs a task on every rank, beside its shard where there is a free slot; see {@link
   * StoreSpec#run}. The rows cannot be updated or appended to in it; variables of one's own can be
   * added.
   */
  public <T> List<T> run(RankTask<T> task) {
    throw new UnsupportedOperationException(String.valueOf(task));
  }

  /**
   * Adds rows at the end; those there are keep their indices. Blocks.
   *
   * @param rows with the columns of {@link #sourceSchema()}
   */
  public void append(Dataset<Row> rows) {
    throw new UnsupportedOperationException(String.valueOf(rows));
  }

  /** Brings back the rows of executors that are gone. Blocks. */
  public void repair() {
    throw new UnsupportedOperationException();
  }

  /** Frees everything, on all executors. Idempotent; blocks until they have, or are gone. */
  public void drop() {
    throw new UnsupportedOperationException();
  }

  /** Whether the store has been dropped, by whomever. */
  public boolean isDropped() {
    throw new UnsupportedOperationException();
  }

  /** Who holds what, and how it is read; for people. */
  public String explain() {
    throw new UnsupportedOperationException();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.spark.sql.types.StructType;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.StoreOptions;
import org.ddstore.spark.resident.HandleText;
import org.ddstore.spark.resident.OutsideHandle;
import org.ddstore.spark.resident.StoreAttachment;
import org.ddstore.spark.resident.StoreSnapshot;
import org.ddstore.spark.resident.StoreState;
import org.ddstore.spark.task.Versioned;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.OutsideTransport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.Schema;

/**
 * A handle by which other processes attach to a resident store. It is a snapshot of the store at
 * the time at which it was made: it does not contain rows that are appended later, and it cannot
 * locate rows that {@link ResidentStore#repair} moves to another executor. Immutable and
 * serializable.
 *
 * <p>A handle of {@link ResidentStore#handle} is for tasks, UDFs and the driver. It contains the
 * store's token, with which any process can read and control the store. As text, see {@link
 * #toJson}, a handle contains a read key instead of the token, and is for processes outside of the
 * application: they can read all rows, and nothing else.
 */
public final class StoreHandle implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Label of the grant of handles that {@link #toJson} makes of those of an application. */
  static final String LABEL = "handle";

  private static final Duration OUTSIDE_TIMEOUT = Duration.ofSeconds(20);

  private final Versioned<StoreState> versioned;
  private final transient HandleSource source;

  /**
   * @param source maker of handles for other processes; null outside of the driver
   */
  StoreHandle(StoreState state, HandleSource source) {
    this.versioned = Versioned.of(state);
    this.source = source;
  }

  /** {@return the name of the store} */
  public String name() {
    return state().name();
  }

  /** {@return the number of rows of the snapshot} */
  public long rows() {
    return state().rows();
  }

  /** {@return the schema of the records} */
  public Schema schema() {
    return state().schema();
  }

  /** {@return the stored columns of the DataFrame, with their original types and in their order} */
  public StructType sourceSchema() {
    return state().sourceSchema();
  }

  /** {@return the fields that hold the values of each leaf of {@link #sourceSchema()}} */
  public List<ColumnMapping> columns() {
    return state().columns();
  }

  /** {@return the locations of the rows: one catalog, of one full copy, per replica group} */
  public List<Catalog> catalogs() {
    return state().catalogs();
  }

  /** {@return the digest of the rows; see {@link ResidentStore#digest}} */
  public String digest() {
    return state().digest();
  }

  private StoreState state() {
    return versioned.value();
  }

  StoreSnapshot snapshot() {
    if (state() instanceof StoreSnapshot snapshot) {
      return snapshot;
    }
    throw new IllegalStateException(
        "store \"%s\": a handle from a text reads rows only; use that of ResidentStore.handle"
            .formatted(name()));
  }

  /**
   * Returns this handle as text, for processes outside of the application, in any language;
   * docs/handle.md describes the format. The text contains a read key: whoever has it can read all
   * rows until {@link ResidentStore#revoke} ends the grant {@code "handle"}, or the store ends. For
   * an end at a certain time, see {@link ResidentStore#grant}. Opens the executors to readers
   * outside of Spark. Blocks, unless this handle comes from a text or a grant.
   *
   * @return one line of JSON
   * @throws IllegalStateException if this handle was sent to a task: only the driver can do this;
   *     or if the handle exceeds a limit of docs/handle.md, which the message names
   * @throws UnsupportedOperationException if {@code spark.ddstore.grants} is false
   * @throws org.ddstore.types.DDStoreException if an executor does not answer in time
   */
  public String toJson() {
    return HandleText.write(outside());
  }

  private OutsideHandle outside() {
    if (state() instanceof OutsideHandle outside) {
      return outside;
    }
    return (OutsideHandle) source("toJson").now().state();
  }

  private HandleSource source(String method) {
    if (source == null) {
      throw new IllegalStateException(
          "StoreHandle.%s of store \"%s\": call it in the driver that has the store"
              .formatted(method, name()));
    }
    return source;
  }

  /**
   * Writes {@link #toJson} to a local file that only its user can read, mode 0600. Replaces a file
   * at once: a reader sees the former or the new handle. Throws like {@link #toJson}.
   *
   * @param path path of the file, whose folder exists
   * @throws IOException if the file cannot be written
   */
  public void save(Path path) throws IOException {
    HandleText.save(outside(), Objects.requireNonNull(path, "path is null"));
  }

  /**
   * Writes a file like {@link #save(Path)}, and again after each {@link ResidentStore#append} and
   * {@link ResidentStore#repair}, as long as the store lives.
   *
   * @param path path of the file, whose folder exists
   * @param follow whether the file is kept up to date; if false, as {@link #save(Path)}
   * @throws IOException if the file cannot be written now; later failures are logged and retried
   * @throws IllegalStateException if {@code follow} is true and this handle comes from a text, or
   *     was sent to a task
   */
  public void save(Path path, boolean follow) throws IOException {
    Objects.requireNonNull(path, "path is null");
    if (follow) {
      source("save").follow(path);
    } else {
      save(path);
    }
  }

  /**
   * {@return the handle of a text} Local: contacts no process. Treats the text as hostile.
   *
   * @param json text of {@link #toJson}
   * @throws IllegalArgumentException if the text is no handle, or of an unknown version; the
   *     message names the member, and contains no key
   */
  public static StoreHandle fromJson(String json) {
    return new StoreHandle(HandleText.parse(Objects.requireNonNull(json, "json is null")), null);
  }

  /**
   * {@return the handle of a file}
   *
   * @param path local file that {@link #save} wrote
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if its text is no handle, see {@link #fromJson}
   */
  public static StoreHandle read(Path path) throws IOException {
    return new StoreHandle(HandleText.read(Objects.requireNonNull(path, "path is null")), null);
  }

  /**
   * Attaches this JVM to the store. Local: does not contact the executors. Rows that are not
   * reachable by memory are requested when they are read. The reads of executors and the driver
   * count in Spark's metrics, under the reader {@code attached}.
   *
   * @return a reader that the caller must close
   * @throws org.ddstore.types.DDStoreException if rows are unreachable from this process; the
   *     message names the rows and the reason
   * @throws IllegalStateException if this is a handle of {@link ResidentStore#handle}, and this
   *     process is neither a driver nor an executor of Spark
   */
  public StoreReader attach() {
    return state() instanceof OutsideHandle outside
        ? attachOutside(outside)
        : new StoreReader(StoreAttachment.counted(snapshot()));
  }

  private static StoreReader attachOutside(OutsideHandle handle) {
    OutsideTransport transport =
        new OutsideTransport(handle.claims(), handle.key(), OUTSIDE_TIMEOUT);
    try {
      AttachedStore store =
          AttachedStore.open(handle.catalogs(), transport, StoreOptions.defaults());
      return new StoreReader(
          store, () -> Cleanup.runAll(Stream.of(store::close, transport::close)));
    } catch (RuntimeException | Error e) {
      Cleanup.after(e, Stream.of(transport::close));
      throw e;
    }
  }

  /**
   * Attaches this JVM like {@link #attach()}, by a separate attachment whose reads do not count in
   * the metrics. For callers that count their reads themselves.
   *
   * @return a reader that the caller must close
   */
  public StoreReader attachUncounted() {
    return state() instanceof OutsideHandle
        ? attach()
        : new StoreReader(StoreAttachment.uncounted(snapshot()));
  }

  @Override
  public String toString() {
    return "StoreHandle" + state();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.ddstore.collective.Communicator;
import org.ddstore.layout.RowSpan;
import org.ddstore.read.GatherKernels;
import org.ddstore.transport.Transport;
import org.ddstore.types.CollectiveMismatchException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Internal;
import org.ddstore.types.RankFailedException;
import org.ddstore.types.Schema;

/**
 * A rank's handle on a distributed store. A store has named variables; each is a global row space
 * to which every rank contributes a shard, and every rank can read any row.
 *
 * <p><b>Collective</b> methods ({@code open, add, init, append, epochBegin, epochEnd, digest}) are
 * called by all ranks in the same order, by one thread per rank. An error on one rank is raised on
 * all ranks: on that rank unchanged, on the others as a {@link RankFailedException} that names the
 * rank. After a caller's error (a bad argument, a second add, different schemas) the store remains
 * usable. After mismatched calls, a lost rank or a missed deadline, its collectives stay broken but
 * reads still work.
 *
 * <p><b>Reads</b> are local and may be called by any thread. The convenience methods of this class
 * share readers; a loop is faster with its own {@link Variable#reader}.
 */
public final class DDStore extends ReadableStore {
  private final Communicator communicator;
  private final StoreOptions options;
  private final ShardExchange shards;
  private final StagedUpdates staged = new StagedUpdates();
  private boolean inEpoch;

  private DDStore(Communicator communicator, Transport transport, StoreOptions options) {
    super(transport, options);
    this.communicator = communicator;
    this.options = options;
    this.shards = new ShardExchange(this, communicator, options);
  }

  /**
   * Opens a store without variables. Collective.
   *
   * @param communicator owned by the caller, who closes it after the store
   * @param options memory, files and time-outs of the store
   * @return the store of this rank; the caller closes it
   */
  public static DDStore open(Communicator communicator, StoreOptions options) {
    return open(communicator, null, options);
  }

  /**
   * Opens a store like {@link #open(Communicator, StoreOptions)}, with a transport to segments that
   * cannot be mapped. Collective.
   *
   * @param communicator group of the ranks; this store does not close it
   * @param transport owned by the caller, who closes it after the store; null to use the memory of
   *     this host only
   * @param options memory, files and time-outs of the store
   * @return the store of this rank; the caller closes it
   */
  @Internal
  public static DDStore open(Communicator communicator, Transport transport, StoreOptions options) {
    Objects.requireNonNull(communicator, "communicator is null");
    communicator.exchange(
        "open()",
        () -> {
          Objects.requireNonNull(options, "options is null");
          return new byte[0];
        });
    return new DDStore(communicator, transport, options);
  }

  /** Returns this rank, in [0, {@link #ranks()}). */
  @Override
  public int rank() {
    return communicator.rank();
  }

  @Override
  public int ranks() {
    return communicator.size();
  }

  /**
   * Adds a variable with one fixed field of the same name, and copies this rank's rows. Collective.
   *
   * @param name name of a variable
   * @param rows {@code [rows, shape...]}; type and shape must be the same on all ranks, the number
   *     of rows may differ and may be 0
   * @return the variable
   * @throws IllegalArgumentException if the name is taken
   * @throws CollectiveMismatchException if ranks give different types or shapes
   */
  public Variable add(String name, Tensor rows) {
    return addNew(name, () -> schemaOf(name, rows), writer -> writer.appendRows(rows));
  }

  /**
   * Adds a variable from a shard that this rank has built. Collective. Takes ownership of the
   * writer's memory, even if the call fails.
   *
   * @param name name of a variable
   * @param shard writer that holds the rows of this rank
   * @return the variable
   * @throws IllegalArgumentException if the name is taken
   * @throws CollectiveMismatchException if ranks give different schemas
   */
  public Variable add(String name, ShardWriter shard) {
    return addNew(name, new Contribution(shard));
  }

  /**
   * Adds a variable like {@link #add(String, ShardWriter)} whose rows never change: {@link #update}
   * and {@link #append} throw. Collective. Use it for rows that other stores hold copies of,
   * because a change to one copy does not reach the others.
   *
   * @param name name of a variable
   * @param shard writer that holds the rows of this rank
   * @param reason last part of the message that {@link #update} and {@link #append} throw
   * @return the variable
   */
  public Variable addReadOnly(String name, ShardWriter shard, String reason) {
    Supplier<Variable> target =
        () -> {
          Objects.requireNonNull(reason, "reason is null");
          return checkNew(name);
        };
    return addNew(name, target, new Contribution(shard), added -> added.setReadOnly(reason));
  }

  /**
   * Adds a zero-filled variable with one fixed field. Collective.
   *
   * @param name name of a variable
   * @param localRows number of rows of this rank; may be 0 and may differ between ranks
   * @param dtype element type
   * @param rowShape shape of one row; none for a scalar
   * @return the variable
   */
  public Variable init(String name, long localRows, DType dtype, int... rowShape) {
    return addNew(
        name,
        () -> {
          Objects.requireNonNull(rowShape, "rowShape is null");
          return Schema.of(Field.fixed(name, dtype, rowShape));
        },
        writer -> writer.appendZeros(localRows));
  }

  /**
   * Appends rows to a variable with one fixed field; existing indices do not change. Collective:
   * the new rows of all ranks are placed at the end in rank order. Readers see them from their next
   * call on.
   *
   * @param name name of a variable
   * @param rows this rank's rows: the first dimension is their number
   */
  public void append(String name, Tensor rows) {
    appendTo(name, new Contribution(() -> schemaOf(name, rows), writer -> writer.appendRows(rows)));
  }

  private static Schema schemaOf(String name, Tensor rows) {
    Objects.requireNonNull(rows, "rows is null");
    return Schema.of(rows.rowField(name));
  }

  /**
   * Appends rows like {@link #append(String, Tensor)}, with records of any schema. Collective.
   *
   * @param name name of a variable
   * @param shard writer that holds the rows of this rank
   */
  public void append(String name, ShardWriter shard) {
    appendTo(name, new Contribution(shard));
  }

  private void appendTo(String name, Contribution contribution) {
    try (contribution) {
      shards.extend(
          "append(\"%s\")".formatted(name), () -> variable(name), contribution, known -> {});
    }
  }

  /**
   * Adds variables whose shards are owned by other processes: closing this store does not free
   * them. Every rank attaches to all of their segments. The variables cannot be updated or appended
   * to. Collective.
   *
   * @param copies catalogs as for {@link AttachedStore#open(List, Transport, StoreOptions)}, with
   *     the same number of ranks as this store; the same catalogs on all ranks, in any order
   * @throws IllegalArgumentException if a name is taken, or the catalogs are not copies of each
   *     other
   * @throws DDStoreException if a segment is unreachable from this process; the message names the
   *     segment and the reason
   */
  public void adopt(List<Catalog> copies) {
    shards.adopt(copies);
  }

  private Variable addNew(String name, Callable<Schema> schema, Consumer<ShardWriter> rows) {
    return addNew(name, new Contribution(schema, rows));
  }

  private Variable addNew(String name, Contribution contribution) {
    return addNew(name, () -> checkNew(name), contribution, added -> {});
  }

  /**
   * @param target validates the arguments and returns null
   * @param prepare called with the variable before it is published
   */
  private Variable addNew(
      String name,
      Supplier<Variable> target,
      Contribution contribution,
      Consumer<Variable> prepare) {
    try (contribution) {
      return shards.extend(
          "add(\"%s\")".formatted(name), target, contribution.named(name), prepare);
    }
  }

  /** Checks that the name is free. Returns null, because the variable does not exist yet. */
  Variable checkNew(String name) {
    checkOpen();
    Objects.requireNonNull(name, "name is null");
    if (contains(name)) {
      throw new IllegalArgumentException(
          "a variable \"%s\" was added before: %s".formatted(name, variable(name)));
    }
    return null;
  }

  /**
   * Replaces rows of this rank's shard at the next {@link #epochBegin()}. Local; the rows are
   * copied immediately. The last update of a row wins.
   *
   * @param name name of a variable
   * @param rows of exactly the variable's type and shape
   * @param localRow index of the first row to replace, within this rank's rows
   * @throws IllegalArgumentException if type or shape differ, or the variable does not have exactly
   *     one fixed field
   * @throws IndexOutOfBoundsException if a row is outside this rank's rows
   */
  public void update(String name, Tensor rows, long localRow) {
    Objects.requireNonNull(rows, "rows is null");
    Variable variable = variable(name);
    checkWritable(variable, "updated");
    variable.checkReadable(); // a later epoch cannot complete a partial failure
    Schema schema = variable.schema();
    if (schema.size() != 1
        || !schema.isFixed()
        || !rows.hasRowsOf(schema.field(0), schema.field(0).shape())) {
      throw new IllegalArgumentException(
          "rows %s cannot replace rows of %s".formatted(rows, variable));
    }
    long local = variable.localRows();
    if (localRow < 0 || localRow > local - rows.rows()) {
      throw new IndexOutOfBoundsException(
          "local rows %s outside [0, %d), the rows of rank %d in \"%s\""
              .formatted(RowSpan.format(localRow, rows.rows()), local, rank(), name));
    }
    staged.stage(variable, rows, localRow);
  }

  static void checkWritable(Variable variable, String change) {
    if (variable != null && variable.readOnlyReason() != null) {
      throw new IllegalStateException(
          "variable \"%s\" cannot be %s: %s"
              .formatted(variable.name(), change, variable.readOnlyReason()));
    }
  }

  /**
   * Begins an access epoch: applies the updates of all ranks, after which all ranks see them and no
   * row changes until the next epoch. Collective.
   *
   * <p>If this method throws after ranks have begun to apply updates (a rank ended, failed, was
   * interrupted or missed the deadline), this rank may have rows of two epochs. From then on, this
   * rank refuses all reads of variables that any rank has updated, with a {@link DDStoreException}
   * whose cause is the exception thrown here; their {@linkplain Variable#version() version}
   * increases by one. Other variables stay readable. If it throws earlier, no row has changed.
   *
   * @throws IllegalStateException if the previous epoch has not ended
   */
  public void epochBegin() {
    byte[][] staging = communicator.exchange("epochBegin()", this::stagedChanges);
    List<Variable> changing = StagedUpdates.changedOnAny(variables(), staging);
    try {
      communicator.exchange("epochBegin() apply", () -> inside(staged::apply));
    } catch (RuntimeException | Error e) {
      changing.forEach(variable -> variable.changedInPart(e));
      throw e;
    }
    changing.forEach(Variable::changed);
    inEpoch = true;
  }

  /** Returns a bit set of the variables that this rank changes, in the order of their addition. */
  private byte[] stagedChanges() {
    checkEpoch(false);
    return staged.changed(variables()).toByteArray();
  }

  /**
   * Ends an access epoch. Collective.
   *
   * @throws IllegalStateException if no epoch has begun
   */
  public void epochEnd() {
    communicator.exchange("epochEnd()", () -> checkEpoch(true));
    inEpoch = false;
  }

  private byte[] checkEpoch(boolean expected) {
    checkOpen();
    if (inEpoch != expected) {
      throw new IllegalStateException(
          inEpoch
              ? "an access epoch has begun already: call epochEnd() first"
              : "no access epoch has begun: call epochBegin() first");
    }
    return new byte[0];
  }

  /**
   * {@return a digest of a variable that depends on the index and the bytes of every record: 32
   * hexadecimal digits, independent of the number of ranks} Collective; reads all rows of this
   * rank.
   *
   * @param name name of a variable
   */
  public String digest(String name) {
    return StoreDigest.sum(
        communicator.exchange(
            "digest(\"%s\")".formatted(name), () -> StoreDigest.ofRank(this, variable(name))));
  }

  /**
   * {@return a human-readable description: the owner of each run of rows, how this rank reads it
   * and why, and the free space of the memory} Local.
   */
  public String explain() {
    long ownBytes =
        variables().stream()
            .flatMap(variable -> variable.ownSegments().stream())
            .mapToLong(segment -> segment.dataBytes() + segment.offsetBytes())
            .sum();
    return info()
        + "rank %d holds %,d bytes in %s, rows are copied by %s%n"
            .formatted(rank(), ownBytes, options.place(), GatherKernels.description());
  }

  /** {@return the catalog that {@link AttachedStore#open} needs} Local. */
  public Catalog catalog() {
    checkOpen();
    return new Catalog(ranks(), variables().stream().map(Variable::entry).toList());
  }

  @Override
  void beforeFree() {
    staged.close();
  }

  @Override
  public String toString() {
    return "DDStore[%s, variables %s]".formatted(communicator, names());
  }
}

package org.ddstore;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.ddstore.collective.Communicator;
import org.ddstore.layout.ExtentMap;
import org.ddstore.layout.RowSpan;
import org.ddstore.memory.RowDigest;
import org.ddstore.memory.Segment;
import org.ddstore.read.GatherKernels;
import org.ddstore.transport.Attachment;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
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
  private final StagedUpdates staged = new StagedUpdates();
  private boolean inEpoch;

  private DDStore(Communicator communicator, Transport transport, StoreOptions options) {
    super(transport, options);
    this.communicator = communicator;
    this.options = options;
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
      extend("append(\"%s\")".formatted(name), () -> variable(name), contribution, known -> {});
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
    List<SegmentCopies> adopted = new ArrayList<>();
    byte[][] offers =
        communicator.exchange(
            "adopt()",
            () -> {
              adopted.addAll(adoptable(copies));
              return adopted.toString().getBytes(StandardCharsets.UTF_8);
            });
    checkSame(offers);
    Map<SegmentCopies, List<SegmentCopies.Chosen>> attached = new LinkedHashMap<>();
    try {
      communicator.exchange(
          "adopt() attach",
          () -> {
            adopted.forEach(variable -> attached.put(variable, variable.attachAll(reach())));
            return new byte[0];
          });
    } catch (RuntimeException | Error e) {
      attached.values().forEach(all -> all.forEach(chosen -> chosen.attachment().release()));
      throw e;
    }
    attached.forEach(this::publish);
  }

  private List<SegmentCopies> adoptable(List<Catalog> copies) {
    Objects.requireNonNull(copies, "copies is null");
    List<SegmentCopies> variables = Catalog.join(copies);
    if (copies.get(0).ranks() != ranks()) {
      throw new IllegalArgumentException(
          "%s cannot be adopted by a store of %d ranks: the numbers of ranks must be equal"
              .formatted(copies.get(0), ranks()));
    }
    variables.forEach(variable -> checkNew(variable.name()));
    return variables;
  }

  private static void checkSame(byte[]... offers) {
    for (int rank = 1; rank < offers.length; rank++) {
      if (!Arrays.equals(offers[rank], offers[0])) {
        throw new CollectiveMismatchException(
            rank,
            "adopt(): catalog mismatch: rank %d has %s, rank 0 has %s"
                .formatted(
                    rank,
                    new String(offers[rank], StandardCharsets.UTF_8),
                    new String(offers[0], StandardCharsets.UTF_8)));
      }
    }
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
      return extend("add(\"%s\")".formatted(name), target, contribution.named(name), prepare);
    }
  }

  /** Checks that the name is free. Returns null, because the variable does not exist yet. */
  private Variable checkNew(String name) {
    checkOpen();
    Objects.requireNonNull(name, "name is null");
    if (contains(name)) {
      throw new IllegalArgumentException(
          "a variable \"%s\" was added before: %s".formatted(name, variable(name)));
    }
    return null;
  }

  /**
   * Adds one extent per rank.
   *
   * @param target returns the variable to extend, or null for a new one; its exceptions reach all
   *     ranks
   * @param prepare called with the variable before the rows are published
   */
  private Variable extend(
      String call,
      Supplier<Variable> target,
      Contribution contribution,
      Consumer<Variable> prepare) {
    List<Attachment> attached = new ArrayList<>();
    try {
      byte[][] offers = communicator.exchange(call, () -> offer(target.get(), contribution));
      Variable existing = target.get();
      Segment own = contribution.segment();
      List<SegmentAddress> addresses = ShardOffer.addresses(call, offers);
      communicator.exchange(
          call + " attach",
          () -> {
            reach().share(own, addresses);
            for (int rank = 0; rank < addresses.size(); rank++) {
              attached.add(addresses.get(rank).attach(rank, own.schema(), reach()));
            }
            return new byte[0];
          });
      Variable variable =
          existing == null ? newVariable(contribution.name(), own.schema()) : existing;
      prepare.accept(variable);
      publish(variable, () -> variable.append(own, addresses, attached));
      return variable;
    } catch (RuntimeException | Error e) {
      Stream<Runnable> steps = attached.stream().map(attachment -> attachment::release);
      Segment own = contribution.segment();
      if (own != null) {
        steps = Stream.concat(steps, Stream.of(() -> reach().withdraw(own), own::release));
      }
      Cleanup.after(e, steps);
      throw e;
    }
  }

  private byte[] offer(Variable existing, Contribution contribution) throws Exception {
    checkWritable(existing, "appended to");
    Segment segment = contribution.seal(options);
    if (existing != null && !existing.schema().equals(segment.schema())) {
      throw new IllegalArgumentException(
          "rows of %s cannot be appended to %s".formatted(segment.schema(), existing));
    }
    reach().export(segment);
    return ShardOffer.of(segment, reach()).toBytes();
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
    if (schema.size() != 1 || !schema.isFixed() || !rows.hasRowsOf(schema.field(0))) {
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

  private static void checkWritable(Variable variable, String change) {
    if (variable != null && variable.readOnlyReason() != null) {
      throw new IllegalStateException(
          "%s cannot be %s: %s".formatted(variable, change, variable.readOnlyReason()));
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
    List<Variable> changing = changing(staging);
    try {
      communicator.exchange("epochBegin() apply", () -> inside(staged::apply));
    } catch (RuntimeException | Error e) {
      changing.forEach(variable -> variable.changedInPart(e));
      throw e;
    }
    changing.forEach(Variable::changed);
    inEpoch = true;
  }

  /**
   * Returns a bit set of the variables that this rank changes, in the order of their addition,
   * which is the same on all ranks.
   */
  private byte[] stagedChanges() {
    checkEpoch(false);
    return staged.changed(variables()).toByteArray();
  }

  /** Returns the variables that at least one rank changes. */
  private List<Variable> changing(byte[]... changedByRank) {
    BitSet changed = new BitSet();
    for (byte[] bits : changedByRank) {
      changed.or(BitSet.valueOf(bits));
    }
    List<Variable> all = List.copyOf(variables());
    return changed.stream().mapToObj(all::get).toList();
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
    byte[][] parts =
        communicator.exchange("digest(\"%s\")".formatted(name), () -> localDigest(variable(name)));
    RowDigest sum = new RowDigest();
    for (byte[] part : parts) {
      ByteBuffer halves = ByteBuffer.wrap(part);
      sum.add(halves.getLong(), halves.getLong());
    }
    return sum.toString();
  }

  private byte[] localDigest(Variable variable) {
    RowDigest digest = new RowDigest();
    if (variable.isAdopted()) {
      addAdopted(digest, variable);
      return bytesOf(digest);
    }
    ExtentMap extents = variable.placement().extents();
    inside(
        () -> {
          Iterator<Segment> own = variable.ownSegments().iterator();
          for (int e = 0; e < extents.extents(); e++) {
            if (extents.rank(e) == rank()) {
              digest.add(extents.firstRow(e), own.next());
            }
          }
        });
    return bytesOf(digest);
  }

  /** Adds adopted rows by reading them, because their memory may be in another process. */
  private void addAdopted(RowDigest digest, Variable variable) {
    ExtentMap extents = variable.placement().extents();
    try (RowCopy copy = new RowCopy(variable)) {
      for (int e = 0; e < extents.extents(); e++) {
        if (extents.rank(e) == rank()) {
          long[] next = {extents.firstRow(e)};
          copy.copy(
              next[0],
              extents.rows(e),
              row -> digest.add(next[0]++, row, row.position(), row.remaining()));
        }
      }
    }
  }

  private static byte[] bytesOf(RowDigest digest) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(digest.high()).putLong(digest.low()).array();
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

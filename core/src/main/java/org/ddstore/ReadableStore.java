package org.ddstore;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.ddstore.layout.ExtentMap;
import org.ddstore.read.Placement;
import org.ddstore.transport.Reach;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.Cleanup;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeadlineExceededException;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;

/**
 * What every holder of a store can do: read its variables. Reads are local calls of any thread. The
 * convenience methods here share readers; a loop is faster with a {@link Variable#reader} of its
 * own.
 */
public abstract class ReadableStore implements AutoCloseable {
  private final ReadGate gate = new ReadGate(this, this::free);
  private final Duration closeTimeout;
  private final Reach reach;
  private volatile Map<String, Variable> variables = Map.of();

  ReadableStore(Transport transport, StoreOptions options) {
    this.closeTimeout = options.closeTimeout();
    this.reach = new Reach(transport, options.shortcut(), options.readTimeout());
  }

  /** How this holder gets at the segments of others. */
  final Reach reach() {
    return reach;
  }

  /** This rank, of [0, {@link #ranks()}); -1 for a reader that is none. */
  public abstract int rank();

  /** How many ranks hold the store. */
  public abstract int ranks();

  final void checkOpen() {
    gate.checkOpen();
  }

  final Variable newVariable(String name, Schema schema) {
    return new Variable(rank(), name, schema, gate, reach);
  }

  final boolean contains(String name) {
    return variables.containsKey(name);
  }

  final Set<String> names() {
    return variables.keySet();
  }

  final Collection<Variable> variables() {
    return variables.values();
  }

  /**
   * Makes rows of a variable known. Fails, without taking the rows, when the store has been closed:
   * their memory stays the caller's then.
   *
   * @param take makes the rows the variable's
   */
  final void publish(Variable variable, Runnable take) {
    synchronized (gate) {
      gate.checkOpen();
      take.run();
      Map<String, Variable> more = new LinkedHashMap<>(variables);
      more.put(variable.name(), variable);
      variables = Collections.unmodifiableMap(more);
    }
  }

  /**
   * Makes a variable known whose rows others hold.
   *
   * @param attached its segments; released if that fails
   */
  final void publish(SegmentCopies copies, List<SegmentCopies.Chosen> attached) {
    try {
      Variable variable = newVariable(copies.name(), copies.schema());
      publish(variable, () -> variable.attach(copies, attached));
    } catch (RuntimeException | Error e) {
      attached.forEach(chosen -> chosen.attachment().release());
      throw e;
    }
  }

  /**
   * The variable of this name.
   *
   * @throws IllegalArgumentException if there is none; the message lists those there are
   */
  public final Variable variable(String name) {
    Objects.requireNonNull(name, "name is null");
    gate.checkOpen();
    Variable variable = variables.get(name);
    if (variable == null) {
      throw new IllegalArgumentException(
          "no variable \"%s\"; there are %s".formatted(name, variables.keySet()));
    }
    return variable;
  }

  /** Reads consecutive rows of a variable of one fixed field; see {@link Reader#get}. */
  public final void get(String name, Tensor destination, long start) {
    Objects.requireNonNull(destination, "destination is null");
    withReader(name, reader -> reader.get(destination, start));
  }

  /** Reads rows of a variable of one fixed field; see {@link Reader#getBatch(Tensor, long...)}. */
  public final void getBatch(String name, Tensor destination, long... indices) {
    Objects.requireNonNull(destination, "destination is null");
    Objects.requireNonNull(indices, "indices is null");
    withReader(name, reader -> reader.getBatch(destination, indices));
  }

  /** Reads rows of any variable into a batch to be closed; see {@link Reader#getBatch(long...)}. */
  public final Batch getBatch(String name, long... indices) {
    Objects.requireNonNull(indices, "indices is null");
    Batch[] batch = new Batch[1];
    withReader(name, reader -> batch[0] = reader.getBatch(indices));
    return batch[0];
  }

  private void withReader(String name, Consumer<Reader> read) {
    Variable variable = variable(name);
    Reader reader = variable.borrowReader();
    try {
      read.accept(reader);
    } finally {
      variable.giveBack(reader);
    }
  }

  /** Touches segments as a reader does, so that a close waits for it. */
  final byte[] inside(Runnable work) {
    ReadGate.Pass pass = gate.newPass();
    pass.enter(this);
    try {
      work.run();
    } finally {
      pass.exit();
      pass.retire(this);
    }
    return new byte[0];
  }

  /**
   * What this rank knows of the store: variables, who holds which rows, how it reads them. Local.
   */
  public final StoreInfo info() {
    checkOpen();
    return new StoreInfo(
        rank(), ranks(), variables.values().stream().map(ReadableStore::describe).toList());
  }

  private static StoreInfo.VariableInfo describe(Variable variable) {
    Placement placement = variable.layout();
    ExtentMap extents = placement.extents();
    List<StoreInfo.Extent> described = new ArrayList<>();
    long bytes = 0;
    for (int e = 0; e < extents.extents(); e++) {
      SegmentAddress address = variable.addresses().get(e);
      bytes += address.dataBytes();
      described.add(
          new StoreInfo.Extent(
              extents.rank(e),
              extents.firstRow(e),
              extents.rows(e),
              address.dataBytes(),
              address.process(),
              placement.path(e),
              placement.reason(e)));
    }
    return new StoreInfo.VariableInfo(
        variable.name(), variable.schema(), variable.rows(), bytes, described);
  }

  /** What this rank has read of all variables, over each path. Local. */
  public final List<ReadStatistics> statistics() {
    List<ReadStatistics> sum = new ArrayList<>();
    for (ReadPath path : ReadPath.values()) {
      ReadStatistics total = ReadStatistics.none(path);
      for (Variable variable : variables.values()) {
        total = total.plus(variable.statistics().get(path.index()));
      }
      sum.add(total);
    }
    return sum;
  }

  /**
   * Ends the store for this holder: new reads are refused at once, own files are unlinked, reads in
   * flight are waited for, then the memory is freed. Local and idempotent. Batches that are still
   * open stay valid until they are closed. Other ranks keep what they have mapped.
   *
   * @throws DeadlineExceededException if reads are still in flight after {@link
   *     StoreOptions#closeTimeout()}; the last of them frees the memory
   */
  @Override
  public final void close() {
    Cleanup.runAll(
        Stream.of(
            () -> Cleanup.runAll(variables.values().stream().map(v -> v::unlink)),
            this::awaitReaders));
  }

  /**
   * True once it was closed and no read is in flight any more: then nobody uses what it was opened
   * with. Local.
   */
  public final boolean isClosed() {
    return gate.isDrained();
  }

  private void awaitReaders() {
    try {
      if (!gate.close(closeTimeout)) {
        throw new DeadlineExceededException(
            "%d reads are still in flight %s after the close of %s; the last of them frees the memory"
                .formatted(gate.inside(), closeTimeout, this));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DDStoreException("interrupted while waiting for readers of " + this, e);
    }
  }

  private void free() {
    Map<String, Variable> last;
    synchronized (gate) { // after the last publish, which saw the gate open
      last = variables;
    }
    Cleanup.runAll(
        Stream.concat(
            Stream.of(this::beforeFree), last.values().stream().map(v -> (Runnable) v::free)));
  }

  /** Gives back what else the store has. No reader is inside. */
  void beforeFree() {
    // Nothing unless a subclass has more.
  }
}

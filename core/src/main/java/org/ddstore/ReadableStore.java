// SPDX-License-Identifier: Apache-2.0
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
 * A store whose variables can be read. Reads are local and may be called by any thread. The
 * convenience methods of this class share readers; a loop is faster with its own {@link
 * Variable#reader}.
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

  final Reach reach() {
    return reach;
  }

  /** {@return this rank, in [0, {@link #ranks()}); -1 for a handle that is not a rank} */
  public abstract int rank();

  /** {@return the number of ranks that hold the store} */
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

  /** Publishes rows, which the variable takes; if the store is closed, the caller keeps them. */
  final void publish(Variable variable, Runnable take) {
    synchronized (gate) {
      gate.checkOpen();
      take.run();
      Map<String, Variable> updated = new LinkedHashMap<>(variables);
      updated.put(variable.name(), variable);
      variables = Collections.unmodifiableMap(updated);
    }
  }

  /**
   * Publishes a variable whose rows other processes own.
   *
   * @param attached segments of the variable; released if this fails
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
   * {@return the variable of this name}
   *
   * @param name name of a variable
   * @throws IllegalArgumentException if the variable does not exist; the message lists the existing
   *     variables
   */
  public final Variable variable(String name) {
    Objects.requireNonNull(name, "name is null");
    gate.checkOpen();
    Variable variable = variables.get(name);
    if (variable == null) {
      throw new IllegalArgumentException(
          "no variable \"%s\": choose one of %s".formatted(name, variables.keySet()));
    }
    return variable;
  }

  /**
   * Reads consecutive rows of a variable with one fixed field; see {@link Reader#get}.
   *
   * @param name name of a variable
   * @param destination tensor for the rows of the only field; its first dimension is the number of
   *     rows
   * @param start global index of the first row
   */
  public final void get(String name, Tensor destination, long start) {
    Objects.requireNonNull(destination, "destination is null");
    withReader(name, reader -> reader.get(destination, start));
  }

  /**
   * Reads rows of a variable with one fixed field; see {@link Reader#getBatch(Tensor, long...)}.
   *
   * @param name name of a variable
   * @param destination tensor for the rows of the only field; its first dimension is the number of
   *     rows
   * @param indices global indices of the rows, in any order
   */
  public final void getBatch(String name, Tensor destination, long... indices) {
    Objects.requireNonNull(destination, "destination is null");
    Objects.requireNonNull(indices, "indices is null");
    withReader(name, reader -> reader.getBatch(destination, indices));
  }

  /**
   * Reads rows into a batch that the caller closes; see {@link Reader#getBatch(long...)}.
   *
   * @param name name of a variable
   * @param indices global indices of the rows, in any order
   * @return the batch
   */
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

  /** Runs work that accesses segments as a reader, so that a close waits for it. */
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

  /** {@return the layout of the store: variables, owners of rows, and read paths} Local. */
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

  /** {@return the read statistics of this rank over all variables, one per path} Local. */
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
   * Closes this handle: refuses new reads immediately, unlinks own files, waits for reads in
   * flight, then frees the memory. Local and idempotent. Open batches stay valid until they are
   * closed. Other ranks keep the segments that they have mapped.
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

  /** {@return whether this handle is closed and no read is in flight} Local. */
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
    Map<String, Variable> published;
    synchronized (gate) { // after the last publish, which saw the gate open
      published = variables;
    }
    Cleanup.runAll(
        Stream.concat(
            Stream.of(this::beforeFree), published.values().stream().map(v -> (Runnable) v::free)));
  }

  /** Releases further resources of a subclass. Called when no reader is inside. */
  void beforeFree() {
    // Empty by default.
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.ddstore.benchmarks.chaos.Message.Finding;
import org.ddstore.benchmarks.chaos.Message.Problem;

/**
 * Reads of one store, one after the other, in a thread beside an operation: of the version before
 * it, until one has found the version after it.
 */
final class ReadsBeside {
  private static final List<OperationKind> KINDS =
      List.of(OperationKind.QUERY, OperationKind.QUERY, OperationKind.REVOKE, OperationKind.PYTHON);

  /** Reads of a store, see {@link Operations}. */
  @FunctionalInterface
  interface Read {
    List<Observation> read(
        OperationKind operation, String store, String label, List<Version> versions, Random choose)
        throws Exception;
  }

  /** Receives the end of each read. */
  @FunctionalInterface
  interface Listener {
    /**
     * Receives the end of a read.
     *
     * @param mayFail whether reads end with an error when the operation of the step has written
     * @param failure of the read, or null
     */
    void ended(OperationKind operation, boolean mayFail, Exception failure, List<Finding> findings);
  }

  private final Read read;
  private final String store;
  private final Schedule.Step step;
  private final Optional<Version> after;
  private final boolean mayFail;
  private final Random choose;
  private List<Version> versions;
  private boolean hasFoundAfter;
  private volatile boolean isStopped;

  /**
   * @param versions versions that a read may find
   * @param after the one of them that the operation writes
   * @param mayFail whether reads end with an error when the operation has written
   */
  ReadsBeside(
      Read read,
      String store,
      Schedule.Step step,
      List<Version> versions,
      Optional<Version> after,
      boolean mayFail,
      Random choose) {
    this.read = read;
    this.store = store;
    this.step = step;
    this.versions = List.copyOf(versions);
    this.after = after;
    this.mayFail = mayFail;
    this.choose = choose;
  }

  /** Reads until {@link #stop}, and repairs the store after each failure. */
  void run(Listener listener) {
    boolean isLost = false;
    for (int i = 0; !isStopped; i++) {
      OperationKind next = isLost ? OperationKind.REPAIR : KINDS.get(choose.nextInt(KINDS.size()));
      boolean succeeded = run(next, "%d-%d".formatted(step.number(), i), listener);
      if (!succeeded && (isLost || step.operation() == OperationKind.DROP)) {
        return;
      }
      isLost = !succeeded && !mayFail;
    }
  }

  private boolean run(OperationKind next, String label, Listener listener) {
    List<Finding> findings = new ArrayList<>();
    Exception failure = null;
    try {
      for (Observation found : read.read(next, store, label, versions, choose)) {
        observed(found).ifPresent(text -> findings.add(new Finding(Problem.MISMATCH, text)));
      }
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      failure = e;
    } catch (Error e) {
      failure = new IllegalStateException(e); // a finding
    }
    listener.ended(next, mayFail, failure, findings);
    return failure == null;
  }

  private Optional<String> observed(Observation found) {
    List<Version> explained = found.explained();
    explained.retainAll(versions); // which the reads before have narrowed
    if (explained.isEmpty()) {
      return Optional.of("no version explains a read beside another operation: " + found);
    }
    boolean isAfter = after.isPresent() && explained.equals(List.of(after.get()));
    if (isAfter) {
      hasFoundAfter = true;
      versions = explained; // no read may find an earlier version from now on
    }
    return Optional.empty();
  }

  void stop() {
    isStopped = true;
  }

  /** Returns whether a read has found what the operation writes. Call it after the last read. */
  boolean hasFoundAfter() {
    return hasFoundAfter;
  }
}

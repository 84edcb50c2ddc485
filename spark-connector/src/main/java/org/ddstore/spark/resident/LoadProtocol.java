// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The driver's decisions in one load of shards: the job leaves leased shards in processes, each
 * process confirms that it keeps them, and then they are published, which is the commit point. A
 * process whose lease has ended makes the driver free the shards everywhere and run the job again.
 * A process that has ended takes its shards with it, which is no failure of the load.
 *
 * <p>A state machine: {@link #step} says what to do next, the other methods report what happened.
 * It has no threads, clocks or network. Not thread-safe.
 *
 * @param <P> type of the address of a process
 */
final class LoadProtocol<P> {
  /** What the driver does next. */
  enum Step {
    /** Run the job that loads the shards; then {@link #loaded}. */
    RUN,
    /** Ask the {@link #silent} processes to confirm; then an answer of each, or a failure. */
    CONFIRM,
    /** Publish the shards; then {@link #published}, or {@link #failed}. */
    PUBLISH,
    /** Free the shards in all {@link #holders}; then {@link #forgotten}. */
    FORGET,
    /** Nothing: the shards are published. */
    COMMITTED,
    /** Nothing: the load has failed and left nothing. */
    FAILED
  }

  private final int maxRounds;
  private final Map<P, Integer> holders = new LinkedHashMap<>(); // shards of each process
  private final Set<P> silent = new LinkedHashSet<>();
  private final Set<P> ended = new LinkedHashSet<>();
  private final Set<P> expired = new LinkedHashSet<>();
  private int rounds;
  private boolean mayRunAgain;
  private Step step = Step.RUN;

  /**
   * @param maxRounds number of times that the job may run
   */
  LoadProtocol(int maxRounds) {
    this.maxRounds = maxRounds;
  }

  Step step() {
    return step;
  }

  /** Returns the number of completed jobs. */
  int rounds() {
    return rounds;
  }

  /** Returns the processes in which the last job has left shards. */
  Set<P> holders() {
    return Set.copyOf(holders.keySet());
  }

  /** Returns the processes that have not answered yet. */
  Set<P> silent() {
    return new LinkedHashSet<>(silent);
  }

  /** Returns the processes that have ended with their shards. */
  Set<P> ended() {
    return Set.copyOf(ended);
  }

  /** Returns the live processes that have freed the shards of the last job. */
  Set<P> expired() {
    return Set.copyOf(expired);
  }

  /**
   * The job has left shards in processes.
   *
   * @param shards the process of each shard
   */
  void loaded(Collection<P> shards) {
    require(Step.RUN);
    rounds++;
    holders.clear();
    ended.clear();
    expired.clear();
    shards.forEach(process -> holders.merge(process, 1, Integer::sum));
    silent.clear();
    silent.addAll(shards);
    step = Step.CONFIRM;
  }

  /**
   * A process has answered.
   *
   * @param shards number of shards that it keeps; too few if their lease has ended
   */
  void answered(P process, int shards) {
    if (settle(process) && shards < holders.get(process)) {
      expired.add(process);
    }
    decide();
  }

  /** A process has ended, or Spark has given up its executor. */
  void ended(P process) {
    if (settle(process)) {
      ended.add(process);
    }
    decide();
  }

  private boolean settle(P process) {
    require(Step.CONFIRM);
    return silent.remove(process);
  }

  private void decide() {
    if (silent.isEmpty()) {
      mayRunAgain = rounds < maxRounds;
      step = expired.isEmpty() ? Step.PUBLISH : Step.FORGET;
    }
  }

  /** The load cannot go on: no answer in time, an interrupt, a refusal, a failed publication. */
  void failed() {
    mayRunAgain = false;
    step = step == Step.RUN || step == Step.FAILED ? Step.FAILED : Step.FORGET; // jobs free theirs
  }

  /**
   * All processes that answer have freed the shards.
   *
   * @param isDropped whether the store was dropped meanwhile
   */
  void forgotten(boolean isDropped) {
    require(Step.FORGET);
    step = mayRunAgain && !isDropped ? Step.RUN : Step.FAILED;
  }

  void published() {
    require(Step.PUBLISH);
    step = Step.COMMITTED;
  }

  private void require(Step expected) {
    if (step != expected) {
      throw new IllegalStateException("step %s instead of %s".formatted(step, expected));
    }
  }
}

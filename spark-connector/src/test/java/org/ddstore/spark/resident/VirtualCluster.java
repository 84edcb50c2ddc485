// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.ExecutorStates;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadGrants;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.ProcessAddress;

/**
 * A driver and executors in virtual time, with a network that delays, repeats, reorders and loses
 * messages, and what Spark's scheduler knows of the executors. Each executor holds shards by {@link
 * ShardLeases} and grants by {@link ReadGrants}.
 */
final class VirtualCluster implements ExecutorStates {
  private static final StoreToken TOKEN = StoreToken.random();
  private static final int LEASE_TICKS = 6;
  private static final int TICK_MS = 10_000;

  /** Spark removes an executor that has not answered for so long, and it ends when it goes on. */
  private static final int REMOVAL_MS = 120_000;

  /** What the network tells of a call. */
  enum Outcome {
    ANSWER,
    /** The process does not take part in the store. */
    LEFT,
    ENDED,
    SILENT
  }

  record Reply(Outcome outcome, Object answer) {}

  /** A handler that does not know the store. */
  static final Object NOT_SERVED = new Object();

  /** The shards of one store in a process. */
  private static final class Holding {
    private final ShardLeases<ShardReport> shards = new ShardLeases<>();
    private final ReadGrants grants = new ReadGrants(TOKEN);
  }

  /** An executor. */
  final class Executor extends VirtualTime.Node {
    private final String id;
    private final ProcessAddress address;
    private final Map<Nonce, Holding> stores = new HashMap<>();
    private boolean isLeaving;
    private boolean isKnownToBeGone;

    Executor(int number) {
      this.id = String.valueOf(number);
      this.address = new ProcessAddress("host", 1 + number, number);
    }

    String id() {
      return id;
    }

    ProcessAddress address() {
      return address;
    }

    void lease(Nonce store, Nonce attempt, ShardReport shard) {
      stores.computeIfAbsent(store, added -> new Holding()).shards.lease(attempt, shard);
    }

    void beginLease(Nonce store, Nonce attempt, int ticks) {
      time.after(
          TICK_MS,
          this,
          () -> {
            if (ticks > 1) {
              beginLease(store, attempt, ticks - 1);
            } else if (!free(store, shards -> shards.expire(attempt)).isEmpty()) {
              time.note(() -> "executor %s: a lease has ended".formatted(id));
            }
          });
    }

    Object confirm(Nonce store, Nonce attempt) {
      Holding holding = stores.get(store);
      return holding == null ? NOT_SERVED : (Object) holding.shards.confirm(attempt);
    }

    /** Answers first, and frees later. */
    Object forget(Nonce store, Nonce attempt) {
      if (!stores.containsKey(store)) {
        return NOT_SERVED;
      }
      time.after(time.between(0, 100), this, () -> free(store, s -> s.forget(attempt)));
      return true;
    }

    void forgetOthers(Nonce store, Nonce attempt) {
      free(store, shards -> shards.forgetOthers(attempt));
    }

    Object drop(Nonce store) {
      Holding holding = stores.get(store);
      if (holding == null) {
        return NOT_SERVED;
      }
      if (holding.shards.beginDrop()) {
        time.after(time.between(0, 3_000), this, () -> free(store, ShardLeases::drop));
      }
      return true;
    }

    private List<ShardReport> free(
        Nonce store, Function<ShardLeases<ShardReport>, List<ShardReport>> of) {
      Holding holding = stores.get(store);
      if (holding == null) {
        return List.of();
      }
      List<ShardReport> freed = of.apply(holding.shards);
      if (holding.shards.isEmpty()) {
        stores.remove(store);
      }
      return freed;
    }

    Object open(Nonce store, Set<String> revoked) {
      Holding holding = stores.get(store);
      if (holding == null) {
        return NOT_SERVED;
      }
      holding.grants.open(revoked);
      return true;
    }

    /** Returns whether a reader from outside can read a store here. */
    boolean admits(Nonce store, String label) {
      Holding holding = stores.get(store);
      return holding != null
          && !isKnownToBeGone // it ends when it goes on
          && holding.grants.isOpen()
          && holding.grants.check(new ReadClaims(store, label, ReadClaims.NEVER), 0) == 0;
    }

    boolean holds(Nonce store, ShardReport shard) {
      Holding holding = stores.get(store);
      return holding != null && holding.shards.confirmed().contains(shard);
    }

    boolean serves(Nonce store) {
      return stores.containsKey(store);
    }

    /** Returns the shards of a store here, confirmed or not. */
    List<Object> held() {
      List<Object> held = new ArrayList<>();
      stores.values().forEach(holding -> held.addAll(holding.shards.confirmed()));
      stores.values().forEach(holding -> held.addAll(unconfirmed(holding)));
      return held;
    }

    private List<Object> unconfirmed(Holding holding) {
      return new ArrayList<>(Collections.nCopies(holding.shards.leased(), "unconfirmed"));
    }
  }

  private final VirtualTime time;
  private final VirtualTime.Node driver = new VirtualTime.Node();
  private final VirtualTime.Node spark = new VirtualTime.Node();
  private final Map<String, Executor> executors = new TreeMap<>();
  private final Consumer<String> onRemoved;

  /** Whether Spark tells of lost executors by events only, as some cluster managers do. */
  private final boolean hasEventsOnly;

  private boolean isFaulty = true;

  /**
   * @param onRemoved Spark's listener, on the driver; some events are lost, if Spark can be asked
   */
  VirtualCluster(VirtualTime time, int size, Consumer<String> onRemoved) {
    this.time = time;
    this.onRemoved = onRemoved;
    this.hasEventsOnly = time.chance(0.1);
    for (int i = 0; i < size; i++) {
      addExecutor();
    }
  }

  VirtualTime.Node driver() {
    return driver;
  }

  private void addExecutor() {
    Executor added = new Executor(executors.size());
    executors.put(added.id(), added);
    time.note(() -> "executor %s has started".formatted(added.id()));
  }

  /** Ends all faults: messages come in time, and nothing is paused for longer. */
  void heal() {
    isFaulty = false;
  }

  List<Executor> alive() {
    return executors.values().stream().filter(Executor::isAlive).toList();
  }

  Executor at(ProcessAddress address) {
    return executors.get(String.valueOf(address.id()));
  }

  Executor executor(String id) {
    return executors.get(id);
  }

  /** Returns the executors that Spark gives tasks. */
  List<Executor> active() {
    return executors.values().stream()
        .filter(executor -> !executor.isKnownToBeGone && !executor.isLeaving)
        .toList();
  }

  // Faults.

  void kill(Executor executor) {
    if (executor.isAlive()) {
      time.note(() -> "executor %s is killed".formatted(executor.id()));
      executor.end();
      executor.stores.clear();
      time.after(time.between(10, 10_000), spark, () -> remove(executor));
    }
  }

  private void remove(Executor executor) {
    if (executor.isKnownToBeGone) {
      return;
    }
    executor.isKnownToBeGone = true;
    time.note(() -> "Spark has removed executor %s".formatted(executor.id()));
    if (hasEventsOnly || time.chance(0.7)) {
      time.after(time.between(0, 5_000), driver, () -> onRemoved.accept(executor.id()));
    }
    time.after(time.between(500, 60_000), spark, this::addExecutor);
    if (executor.isAlive()) { // it is paused, and ends when it goes on
      time.after(0, executor, () -> kill(executor));
    }
  }

  void pause(VirtualTime.Node node, int ms) {
    time.note(
        () ->
            "%s is paused for %.1f s"
                .formatted(
                    node instanceof Executor executor ? "executor " + executor.id() : "the driver",
                    ms / 1e3));
    node.pauseUntil(time.nowMs() + ms);
    if (ms > REMOVAL_MS && node instanceof Executor executor) {
      time.after(REMOVAL_MS, spark, () -> remove(executor));
    }
  }

  void decommission(Executor executor) {
    if (executor.isAlive() && !executor.isLeaving) {
      time.note(() -> "executor %s is decommissioned".formatted(executor.id()));
      executor.isLeaving = true;
      time.after(time.between(500, 30_000), spark, this::addExecutor);
      time.after(time.between(1_000, 120_000), spark, () -> kill(executor));
    }
  }

  // What Spark's scheduler knows.

  @Override
  public Set<String> ended(Collection<String> ids) {
    Set<String> ended = new TreeSet<>(ids);
    ended.removeIf(this::serves);
    return ended;
  }

  @Override
  public Set<String> leaving(Collection<String> ids) {
    Set<String> leaving = new TreeSet<>(ids);
    leaving.removeIf(id -> !executors.get(id).isLeaving || !serves(id));
    return leaving;
  }

  @Override
  public boolean serves(String id) {
    return hasEventsOnly || !executors.get(id).isKnownToBeGone;
  }

  // The network.

  int latencyMs() {
    return !isFaulty || time.chance(0.9)
        ? time.between(1, 20)
        : time.chance(0.9) ? time.between(20, 3_000) : time.between(3_000, 50_000);
  }

  /** Calls a process from the driver, as {@code WireCalls.call} does. */
  void call(ProcessAddress process, int timeoutMs, Supplier<Object> handler, Consumer<Reply> then) {
    send(process, timeoutMs, handler, once(then));
  }

  private static Consumer<Reply> once(Consumer<Reply> then) {
    boolean[] done = new boolean[1];
    return reply -> {
      if (!done[0]) {
        done[0] = true;
        then.accept(reply);
      }
    };
  }

  private void send(
      ProcessAddress process, int timeoutMs, Supplier<Object> handler, Consumer<Reply> then) {
    time.after(timeoutMs, driver, () -> then.accept(new Reply(Outcome.SILENT, null)));
    Executor to = at(process);
    int copies = !isFaulty ? 1 : time.chance(0.05) ? 0 : time.chance(0.05) ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      time.after(latencyMs(), spark, () -> deliver(to, handler, then));
    }
  }

  private void deliver(Executor to, Supplier<Object> handler, Consumer<Reply> then) {
    if (!to.isAlive()) {
      answer(new Reply(Outcome.ENDED, null), then);
      return;
    }
    if (to.pausedUntilMs() > time.nowMs()) {
      time.after(to.pausedUntilMs() - time.nowMs(), spark, () -> deliver(to, handler, then));
      return;
    }
    Object answer = handler.get();
    answer(
        answer == NOT_SERVED ? new Reply(Outcome.LEFT, null) : new Reply(Outcome.ANSWER, answer),
        then);
  }

  private void answer(Reply reply, Consumer<Reply> then) {
    if (!isFaulty || time.chance(0.95)) {
      time.after(latencyMs(), driver, () -> then.accept(reply));
    }
  }
}

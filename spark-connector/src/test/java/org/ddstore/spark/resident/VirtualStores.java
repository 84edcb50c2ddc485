// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.ddstore.memory.BootId;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.resident.ResidentLayout.Place;
import org.ddstore.spark.resident.VirtualCluster.Executor;
import org.ddstore.spark.resident.VirtualCluster.Outcome;
import org.ddstore.spark.resident.VirtualTime.Violation;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.Schema;

/**
 * The driver of a {@link VirtualCluster}: loads, appends, repairs, drops, reads and revokes as the
 * connector does, by its own {@link LoadProtocol}, {@link RepairProtocol}, {@link ResidentPlaces}
 * and {@link ResidentLayout}; and a model of what each store must contain. The limits of time are
 * those of {@link ResidentProcesses}.
 */
final class VirtualStores {
  private static final int PATIENCE_MS = 30_000;
  private static final int CONFIRM_LIMIT_MS = 240_000;
  private static final int ROUND_MS = 1_000;
  private static final int AGAIN_LATER_MS = 1_000;
  private static final int AGAIN_MS = 20;
  private static final int LEASE_TICKS = 6;
  private static final int MAX_ATTEMPTS = 3;
  private static final int WRITE_TIMEOUT_MS = 300_000;
  private static final int READ_TIMEOUT_MS = 15_000;
  private static final int ROWS = 10;
  private static final Schema SCHEMA = Schema.of(Field.fixed("id", DType.INT64));

  /** Longest time that an operation may take: three loads with all of their limits. */
  private static final long OPERATION_LIMIT_MS = 3 * 60 * 60_000;

  private final VirtualTime time;
  private final VirtualCluster cluster;
  private final Map<String, Store> stores = new TreeMap<>();
  private final Map<String, Turns> turns = new HashMap<>();
  private final Set<Operation> running = new LinkedHashSet<>();
  private final Set<String> removed = new HashSet<>();
  private int contents;
  private int committed;

  VirtualStores(VirtualTime time, int executors) {
    this.time = time;
    this.cluster = new VirtualCluster(time, executors, this::removed);
  }

  VirtualCluster cluster() {
    return cluster;
  }

  /** Returns the number of changes that were committed. */
  int committed() {
    return committed;
  }

  private void removed(String executor) {
    removed.add(executor);
    stores.values().forEach(store -> store.places.markLost(Set.of(executor)));
  }

  private Nonce nonce() {
    return new Nonce(time.number(), time.number());
  }

  /** A store, and the contents of its parts, which the model knows. */
  private final class Store {
    private final String name;
    private final Nonce id = nonce();
    private final ReplicaGroups groups;
    private final List<Integer> parts = new ArrayList<>();
    private final Turns changes = new Turns();
    private final Set<String> revoked = new HashSet<>();

    /** Revocations that every process of the store must obey, apart from those that were silent. */
    private final Map<String, Set<ProcessAddress>> exempt = new HashMap<>();

    private ResidentPlaces places;

    Store(String name, ReplicaGroups groups) {
      this.name = name;
      this.groups = groups;
    }

    boolean isDropped() {
      return places != null && places.isEnded();
    }
  }

  /** Turns of writers, in order of arrival, with a limit of time. */
  private final class Turns {
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean isTaken;

    void take(Runnable turn, Runnable onTimeout) {
      if (!isTaken) {
        isTaken = true;
        turn.run();
        return;
      }
      waiting.add(turn);
      time.after(
          WRITE_TIMEOUT_MS,
          cluster.driver(),
          () -> {
            if (waiting.remove(turn)) {
              onTimeout.run();
            }
          });
    }

    void end() {
      isTaken = false;
      Runnable next = waiting.poll();
      if (next != null) {
        isTaken = true;
        next.run();
      }
    }
  }

  /** An operation of a user. */
  private final class Operation {
    private final String what;
    private final long beginMs = time.nowMs();

    Operation(String what) {
      this.what = what;
      running.add(this);
      time.note(() -> what + " begins");
    }

    void end(String how) {
      running.remove(this);
      if (time.nowMs() - beginMs > OPERATION_LIMIT_MS) {
        throw new Violation(what + " has taken too long");
      }
      time.note(() -> what + ": " + how);
    }
  }

  // Operations.

  /** Loads a store, or replaces the one of this name. */
  void load(String name, int width, int copies) {
    Operation operation = new Operation("load of " + name);
    Turns turn = turns.computeIfAbsent(name, added -> new Turns());
    turn.take(
        () -> {
          Store store = new Store(name, new ReplicaGroups(width * copies, width));
          int content = contents++;
          List<Place> places = new ArrayList<>();
          for (int rank = 0; rank < store.groups.ranks(); rank++) {
            places.add(new Place(0, rank));
          }
          new Load(
                  store,
                  place -> content,
                  places,
                  true,
                  this::anywhere,
                  loaded -> register(store, content, loaded),
                  isCommitted -> {
                    turn.end();
                    operation.end(isCommitted ? "committed" : "failed");
                  })
              .go();
        },
        () -> operation.end("timed out"));
  }

  private boolean register(Store store, int content, Loaded loaded) {
    ResidentLayout layout =
        ResidentLayout.of(SCHEMA, store.groups, loaded.shards()).without(loaded.gone());
    store.places =
        new ResidentPlaces(
            cluster,
            (lost, now) -> {
              if (!lost.isEmpty()) {
                time.note(() -> "store %s has lost %d shards".formatted(store.name, lost.size()));
              }
            },
            layout,
            () -> store.name);
    store.parts.add(content);
    committed++;
    Store before = stores.put(store.name, store);
    store.places.markLost(removed);
    store.places.findLost();
    if (before != null) {
      end(before, () -> {});
    }
    return true;
  }

  void append(String name) {
    Store store = stores.get(name);
    if (store == null) {
      return;
    }
    Operation operation = new Operation("append to " + name);
    Turns turn = turns.get(name);
    turn.take(
        () -> change(store, operation, turn, () -> append(store, operation, turn)),
        () -> operation.end("timed out"));
  }

  /** Runs a change of a store in its turn. */
  private void change(Store store, Operation operation, Turns outer, Runnable action) {
    store.changes.take(
        () -> {
          if (store.isDropped()) {
            finish(store, outer, operation, "failed: dropped");
          } else {
            action.run();
          }
        },
        () -> {
          end(outer);
          operation.end("timed out");
        });
  }

  private void finish(Store store, Turns outer, Operation operation, String how) {
    store.changes.end();
    end(outer);
    operation.end(how);
  }

  private static void end(Turns outer) {
    if (outer != null) {
      outer.end();
    }
  }

  private void append(Store store, Operation operation, Turns turn) {
    int content = contents++;
    int part = store.places.now().parts();
    List<Place> places = new ArrayList<>();
    for (int rank = 0; rank < store.groups.ranks(); rank++) {
      places.add(new Place(part, rank));
    }
    new Load(
            store,
            place -> content,
            places,
            true,
            () -> {
              store.places.findLost();
              return store.places.now().homes();
            },
            loaded ->
                publish(
                    store,
                    now -> {
                      ResidentLayout after = now.with(loaded.shards()).without(loaded.gone());
                      store.parts.add(content);
                      return after;
                    }),
            isCommitted -> {
              store.places.findLost();
              refreshGrants(store);
              finish(store, turn, operation, isCommitted ? "committed" : "failed");
            })
        .go();
  }

  private boolean publish(Store store, UnaryOperator<ResidentLayout> to) {
    try {
      store.places.change(
          now -> {
            store.places.checkLive();
            return to.apply(now);
          });
      committed++;
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  void repair(String name) {
    Store store = stores.get(name);
    if (store != null) {
      Operation operation = new Operation("repair of " + name);
      change(store, operation, null, () -> new Repair(store, operation).go());
    }
  }

  void drop(String name) {
    Store store = stores.get(name);
    if (store != null) {
      Operation operation = new Operation("drop of " + name);
      stores.remove(name, store);
      end(store, () -> operation.end("ended"));
    }
  }

  private void end(Store store, Runnable then) {
    Collection<ProcessAddress> holders = store.places.end().orElse(List.of());
    Countdown all = new Countdown(holders.size(), then);
    for (ProcessAddress process : holders) {
      drop(store, process, time.nowMs() + PATIENCE_MS, all::countDown);
    }
    all.check();
  }

  private void drop(Store store, ProcessAddress process, long deadlineMs, Runnable then) {
    cluster.call(
        process,
        (int) Math.max(0, deadlineMs - time.nowMs()),
        () -> cluster.at(process).drop(store.id),
        reply -> {
          if (reply.outcome() == Outcome.ANSWER) {
            time.after(AGAIN_MS, cluster.driver(), () -> drop(store, process, deadlineMs, then));
          } else {
            if (reply.outcome() == Outcome.SILENT) {
              tellLater(process, () -> cluster.at(process).drop(store.id), false);
            }
            then.run();
          }
        });
  }

  /** As {@code ResidentProcesses.tellLater}. */
  private void tellLater(ProcessAddress process, Supplier<Object> request, boolean isDoneByAnswer) {
    cluster.call(
        process,
        PATIENCE_MS,
        request,
        reply -> {
          if (reply.outcome() == Outcome.SILENT
              || (reply.outcome() == Outcome.ANSWER && !isDoneByAnswer)) {
            time.after(
                AGAIN_LATER_MS,
                cluster.driver(),
                () -> tellLater(process, request, isDoneByAnswer));
          }
        });
  }

  private static final class Countdown {
    private final Runnable then;
    private int left;

    Countdown(int left, Runnable then) {
      this.left = left;
      this.then = then;
    }

    void countDown() {
      left--;
      check();
    }

    void check() {
      if (left == 0) {
        left--;
        then.run();
      }
    }
  }

  void revoke(String name, String label) {
    Store store = stores.get(name);
    if (store == null) {
      return;
    }
    Operation operation = new Operation("revocation of %s in %s".formatted(label, name));
    store.revoked.add(label);
    Set<String> revoked = Set.copyOf(store.revoked);
    Collection<ProcessAddress> holders = new ArrayList<>(store.places.served());
    Set<ProcessAddress> silent = new HashSet<>();
    Countdown all =
        new Countdown(
            holders.size(),
            () -> {
              store.exempt.put(label, silent);
              operation.end("ended, without " + silent);
            });
    for (ProcessAddress process : holders) {
      cluster.call(
          process,
          PATIENCE_MS,
          () -> cluster.at(process).open(store.id, revoked),
          reply -> {
            if (reply.outcome() == Outcome.SILENT) {
              silent.add(process);
              tellLater(process, () -> cluster.at(process).open(store.id, revoked), true);
            }
            all.countDown();
          });
    }
    all.check();
  }

  /** Opens the processes of a store to readers from outside, as a new handle does. */
  void refreshGrants(Store store) {
    for (ProcessAddress process : store.places.now().processes().values()) {
      Set<String> revoked = Set.copyOf(store.revoked);
      cluster.call(
          process, PATIENCE_MS, () -> cluster.at(process).open(store.id, revoked), reply -> {});
    }
  }

  void grant(String name) {
    Store store = stores.get(name);
    if (store != null) {
      refreshGrants(store);
    }
  }

  /** Reads a whole store by the layout that it has now, in some time. */
  void read(String name) {
    Store store = stores.get(name);
    if (store == null) {
      return;
    }
    ResidentLayout snapshot = store.places.now();
    List<Integer> parts = List.copyOf(store.parts);
    if (snapshot.parts() != parts.size()) {
      throw new Violation("a reader sees %d parts of %s".formatted(snapshot.parts(), parts));
    }
    Operation operation = new Operation("read of " + name);
    Countdown all =
        new Countdown(parts.size() * store.groups.width(), () -> operation.end("ended"));
    for (int part = 0; part < parts.size(); part++) {
      for (int member = 0; member < store.groups.width(); member++) {
        read(store, snapshot, parts.get(part), part, member, all);
      }
    }
    all.check();
  }

  private void read(
      Store store, ResidentLayout snapshot, int content, int part, int member, Countdown all) {
    List<ShardReport> copies = new ArrayList<>();
    for (int group = 0; group < store.groups.groups(); group++) {
      Place place = new Place(part, group * store.groups.width() + member);
      ShardReport shard = snapshot.shard(place);
      check(shard, content, part, member, store);
      if (!snapshot.lost().contains(place)) {
        copies.add(shard);
      }
    }
    if (copies.isEmpty()) {
      all.countDown();
      return;
    }
    ShardReport shard = time.one(copies);
    cluster.call(
        shard.process(),
        READ_TIMEOUT_MS,
        () -> cluster.at(shard.process()).holds(store.id, shard),
        reply -> {
          boolean isMissing =
              reply.outcome() == Outcome.LEFT || Boolean.FALSE.equals(reply.answer());
          if (isMissing && cluster.at(shard.process()).isAlive() && !store.isDropped()) {
            throw new Violation(
                "a reader of %s misses part %d, member %d on executor %s"
                    .formatted(store.name, part, member, shard.executorId()));
          }
          all.countDown();
        });
  }

  private static void check(ShardReport shard, int content, int part, int member, Store store) {
    if (shard.digestHigh() != content || shard.digestLow() != member || shard.member() != member) {
      throw new Violation(
          "part %d, member %d of %s has content %d/%d instead of %d"
              .formatted(part, member, store.name, shard.digestHigh(), shard.digestLow(), content));
    }
    long width = store.groups.width();
    if (shard.firstRow() != (part * width + member) * ROWS) {
      throw new Violation(
          "part %d, member %d of %s begins at row %d"
              .formatted(part, member, store.name, shard.firstRow()));
    }
  }

  private List<String> anywhere() {
    return List.of();
  }

  private record Loaded(List<ShardReport> shards, Set<String> gone) {}

  /** One load, as {@code ResidentLoading} runs it. */
  private final class Load {
    private final LoadProtocol<ProcessAddress> protocol = new LoadProtocol<>(MAX_ATTEMPTS);
    private final Store store;
    private final Function<Place, Integer> contentOf;
    private final List<Place> places;
    private final boolean isWhole;
    private final Supplier<List<String>> homes;
    private final Function<Loaded, Boolean> publish;
    private final Consumer<Boolean> then;
    private List<ShardReport> shards;
    private Nonce attempt;
    private int jobs;

    Load(
        Store store,
        Function<Place, Integer> contentOf,
        List<Place> places,
        boolean isWhole,
        Supplier<List<String>> homes,
        Function<Loaded, Boolean> publish,
        Consumer<Boolean> then) {
      this.store = store;
      this.contentOf = contentOf;
      this.places = places;
      this.isWhole = isWhole;
      this.homes = homes;
      this.publish = publish;
      this.then = then;
    }

    void go() {
      switch (protocol.step()) {
        case RUN -> run();
        case CONFIRM -> confirm(time.nowMs() + CONFIRM_LIMIT_MS);
        case PUBLISH -> {
          if (publish.apply(new Loaded(shards, executorsOf(protocol.ended())))) {
            time.note(() -> "commit in " + store.name);
            protocol.published();
          } else {
            protocol.failed();
          }
          go();
        }
        case FORGET -> forget();
        case COMMITTED -> then.accept(true);
        case FAILED -> then.accept(false);
      }
    }

    private Set<String> executorsOf(Set<ProcessAddress> processes) {
      Set<String> ids = new TreeSet<>();
      processes.forEach(process -> ids.add(cluster.at(process).id()));
      return ids;
    }

    /** Runs the job: each rank leaves a shard, and the leases begin when all have. */
    private void run() {
      List<Executor> active = cluster.active();
      if (store.isDropped() || ++jobs > MAX_ATTEMPTS * MAX_ATTEMPTS) {
        protocol.failed();
        go();
        return;
      }
      if (active.isEmpty()) {
        time.after(5_000, cluster.driver(), this::run);
        return;
      }
      Nonce number = nonce();
      attempt = number;
      List<String> wanted = homes.get();
      List<Executor> chosen = new ArrayList<>();
      List<ShardReport> made = new ArrayList<>();
      List<Integer> members = members();
      for (int i = 0; i < places.size(); i++) {
        Executor home = i < wanted.size() ? cluster.executor(wanted.get(i)) : null;
        Executor executor = active.contains(home) && time.chance(0.9) ? home : time.one(active);
        chosen.add(executor);
        made.add(shard(places.get(i), members.get(i), executor));
      }
      boolean[] isFailed = new boolean[1];
      Countdown leased = new Countdown(places.size(), () -> begin(number, chosen, made, isFailed));
      for (int i = 0; i < places.size(); i++) {
        Executor executor = chosen.get(i);
        ShardReport shard = made.get(i);
        time.after(
            time.between(10, 3_000),
            executor,
            () -> {
              executor.forgetOthers(store.id, number);
              executor.lease(store.id, number, shard);
              if (isFailed[0]) {
                executor.forget(store.id, number);
              } else {
                leased.countDown();
              }
            });
      }
      watch(number, chosen, isFailed);
    }

    /** All ranks have their shards: each begins its lease, and reports. */
    private void begin(
        Nonce number, List<Executor> chosen, List<ShardReport> made, boolean[] isFailed) {
      Countdown reports =
          new Countdown(
              chosen.size(),
              () -> {
                if (!isFailed[0]) {
                  isFailed[0] = true; // no longer watched
                  shards = made;
                  protocol.loaded(made.stream().map(ShardReport::process).toList());
                  go();
                }
              });
      for (Executor executor : chosen) {
        time.after(
            time.between(1, 20),
            executor,
            () -> {
              executor.beginLease(store.id, number, LEASE_TICKS);
              time.after(cluster.latencyMs(), cluster.driver(), reports::countDown);
            });
      }
    }

    /** Fails the job if one of its executors ends, or at random; the live ranks free theirs. */
    private void watch(Nonce number, List<Executor> chosen, boolean[] isFailed) {
      time.after(
          time.between(1_000, 4_000),
          cluster.driver(),
          () -> {
            if (isFailed[0]) {
              return;
            }
            if (chosen.stream().allMatch(Executor::isAlive) && !time.chance(0.03)) {
              watch(number, chosen, isFailed);
              return;
            }
            isFailed[0] = true;
            time.note(() -> "a job on %s has failed".formatted(store.name));
            chosen.forEach(
                executor ->
                    time.after(
                        time.between(1, 5_000), executor, () -> executor.forget(store.id, number)));
            time.after(time.between(1, 1_000), cluster.driver(), this::run);
          });
    }

    /** Returns the shard of each rank: ranks of copies exchange theirs, as in a load. */
    private List<Integer> members() {
      List<Integer> members = new ArrayList<>();
      places.forEach(place -> members.add(store.groups.memberOf(place.rank())));
      for (int from = store.groups.width();
          isWhole && from < places.size();
          from += store.groups.width()) {
        time.shuffle(members.subList(from, from + store.groups.width()));
      }
      return members;
    }

    private ShardReport shard(Place place, int member, Executor executor) {
      SegmentAddress segment =
          new SegmentAddress(
              nonce(), BootId.ofThisHost(), null, ROWS, ROWS * 8L, "p", executor.address());
      return new ShardReport(
          member,
          Base64.getEncoder().encodeToString(segment.toBytes()),
          (place.part() * (long) store.groups.width() + member) * ROWS,
          ROWS,
          ROWS * 8L,
          contentOf.apply(place),
          member,
          executor.id(),
          "host",
          "tcp");
    }

    private void confirm(long deadlineMs) {
      ask(new ArrayDeque<>(protocol.silent()), deadlineMs);
    }

    /** Asks the silent processes one after the other, and begins again with those that remain. */
    private void ask(Deque<ProcessAddress> next, long deadlineMs) {
      ProcessAddress process = next.poll();
      if (process != null) {
        Nonce number = attempt;
        cluster.call(
            process,
            ROUND_MS,
            () -> cluster.at(process).confirm(store.id, number),
            reply -> {
              switch (reply.outcome()) {
                case ANSWER -> protocol.answered(process, (Integer) reply.answer());
                case LEFT -> protocol.answered(process, 0);
                case ENDED -> protocol.ended(process);
                case SILENT -> {}
              }
              ask(next, deadlineMs);
            });
        return;
      }
      for (ProcessAddress silent : protocol.silent()) {
        if (!cluster.serves(cluster.at(silent).id())) {
          protocol.ended(silent);
        }
      }
      if (protocol.silent().isEmpty()) {
        go();
      } else if (time.nowMs() > deadlineMs) {
        protocol.failed();
        go();
      } else {
        confirm(deadlineMs);
      }
    }

    private void forget() {
      Nonce number = attempt;
      Countdown all =
          new Countdown(
              protocol.holders().size(),
              () -> {
                protocol.forgotten(store.isDropped());
                go();
              });
      for (ProcessAddress process : protocol.holders()) {
        cluster.call(
            process,
            PATIENCE_MS,
            () -> cluster.at(process).forget(store.id, number),
            reply -> {
              if (reply.outcome() == Outcome.SILENT) {
                tellLater(process, () -> cluster.at(process).forget(store.id, number), true);
              }
              all.countDown();
            });
      }
      all.check();
    }
  }

  /** One repair, as {@code ResidentChanges} and {@code ResidentRepair} run it. */
  private final class Repair {
    private final RepairProtocol protocol = new RepairProtocol(MAX_ATTEMPTS);
    private final Store store;
    private final Operation operation;
    private int slots;

    Repair(Store store, Operation operation) {
      this.store = store;
      this.operation = operation;
    }

    void go() {
      switch (protocol.step()) {
        case LOOK -> {
          store.places.findLost();
          slots = time.between(1, 4);
          protocol.looked(store.places.now(), store.places.leaving(), slots);
          if (protocol.step() == RepairProtocol.Step.LOOK) {
            throw new Violation("a repair looks without end");
          }
          go();
        }
        case AWAIT ->
            time.after(
                time.between(1, 20_000),
                cluster.driver(),
                () -> {
                  protocol.awaited(slots);
                  go();
                });
        case COPY, LOAD -> restore(protocol.places());
        case DONE -> end("done");
        case FAILED -> end("failed");
      }
    }

    private void end(String how) {
      refreshGrants(store);
      finish(store, null, operation, how);
    }

    private void restore(List<Place> places) {
      boolean isCopy = protocol.step() == RepairProtocol.Step.COPY;
      if (isCopy && !places.stream().allMatch(this::hasSource)) {
        failed();
        return;
      }
      List<String> executors = cluster.active().stream().map(Executor::id).toList();
      new Load(
              store,
              place -> store.parts.get(place.part()),
              places,
              false,
              () -> protocol.homes(executors),
              loaded -> publish(places, loaded),
              isCommitted -> {
                if (isCommitted) {
                  go();
                } else {
                  failed();
                }
              })
          .go();
    }

    private boolean hasSource(Place place) {
      return protocol.start().holders(place).stream()
          .map(cluster::executor)
          .anyMatch(Executor::isAlive);
    }

    private boolean publish(List<Place> places, Loaded loaded) {
      Map<Place, ShardReport> rebuilt = new HashMap<>();
      for (int i = 0; i < places.size(); i++) {
        rebuilt.put(places.get(i), loaded.shards().get(i));
      }
      ResidentLayout changed = protocol.current().withRebuilt(rebuilt).without(loaded.gone());
      if (VirtualStores.this.publish(store, changed::withLostOf)) {
        protocol.restored(changed);
        return true;
      }
      return false;
    }

    private void failed() {
      if (store.isDropped() || cluster.ended(protocol.start().executors()).isEmpty()) {
        end("failed");
      } else {
        protocol.failed();
        go();
      }
    }
  }

  // Invariants.

  /** Checks what must hold at any time. */
  void check() {
    for (Store store : stores.values()) {
      ResidentLayout layout = store.places.now();
      for (int part = 0; part < layout.parts(); part++) {
        for (int rank = 0; rank < store.groups.ranks(); rank++) {
          Place place = new Place(part, rank);
          ShardReport shard = layout.shard(place);
          Executor executor = cluster.executor(shard.executorId());
          if (!layout.lost().contains(place)
              && executor.isAlive()
              && !executor.holds(store.id, shard)) {
            throw new Violation(
                "executor %s has lost %s of %s".formatted(executor.id(), place, store.name));
          }
        }
      }
      store.exempt.forEach(
          (label, silent) -> {
            for (Executor executor : cluster.alive()) {
              if (!silent.contains(executor.address()) && executor.admits(store.id, label)) {
                throw new Violation(
                    "executor %s admits readers of %s, which was revoked in %s"
                        .formatted(executor.id(), label, store.name));
              }
            }
          });
    }
  }

  /** Repairs all stores after the faults have ended. */
  void repairAll() {
    stores.keySet().forEach(this::repair);
  }

  /** Checks what must hold when everything has ended and lost shards are restored. */
  void checkEnd() {
    if (!running.isEmpty()) {
      throw new Violation(
          "never ended: " + running.stream().map(operation -> operation.what).toList());
    }
    Set<ShardReport> expected = new HashSet<>();
    for (Store store : stores.values()) {
      ResidentLayout layout = store.places.now();
      if (layout.parts() != store.parts.size() || !layout.lost().isEmpty()) {
        throw new Violation(
            "%s has %d parts of %s, and lost %s"
                .formatted(store.name, layout.parts(), store.parts, layout.lost()));
      }
      for (int part = 0; part < layout.parts(); part++) {
        for (int rank = 0; rank < store.groups.ranks(); rank++) {
          ShardReport shard = layout.shard(new Place(part, rank));
          check(shard, store.parts.get(part), part, store.groups.memberOf(rank), store);
          if (!cluster.executor(shard.executorId()).isAlive()) {
            throw new Violation(
                "%s names executor %s, which has ended".formatted(store.name, shard.executorId()));
          }
          expected.add(shard);
        }
      }
    }
    for (Executor executor : cluster.alive()) {
      List<Object> leaked = executor.held();
      leaked.removeAll(expected);
      if (!leaked.isEmpty()) {
        throw new Violation("executor %s keeps %s".formatted(executor.id(), leaked));
      }
    }
    for (Store store : stores.values()) {
      store.revoked.forEach(
          label -> {
            if (cluster.alive().stream().anyMatch(one -> one.admits(store.id, label))) {
              throw new Violation("%s is never revoked in %s".formatted(label, store.name));
            }
          });
    }
  }
}

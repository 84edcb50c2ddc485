// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.ddstore.Shard;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.ShardMemory;
import org.ddstore.spark.types.ReaderStatistics;
import org.ddstore.spark.wire.OutsidePort;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.types.Backing;
import org.ddstore.types.Cleanup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards of resident stores that this executor holds between jobs, by store. A loaded shard has
 * a lease of {@value #LEASE_SECONDS} seconds, which begins when all ranks have loaded theirs. After
 * all ranks have reported, the driver confirms the shard, which then stays until the driver drops
 * the store or this process ends, when the shutdown hook of their directory deletes the files. So a
 * failed load or a dead driver leaves nothing behind. Time in which this process is stopped does
 * not count against the lease.
 *
 * <p>While this process holds shards of a store, it takes part in the store's network session and
 * answers the driver's requests; see {@link ResidentControl}. Thread-safe.
 */
public final class ResidentShards {
  private static final int LEASE_SECONDS = 60;
  private static final int LEASE_TICKS = 60;

  /** Time limit of the driver to collect the reports of all ranks and to confirm. */
  public static final Duration LEASE = Duration.ofSeconds(LEASE_SECONDS);

  private static final Logger LOG = LoggerFactory.getLogger(ResidentShards.class);
  private static final Map<Nonce, Holding> HOLDINGS = new HashMap<>(); // guarded by itself

  static {
    ShardMemory.countResidentBy(ResidentShards::memoryBytes);
  }

  private ResidentShards() {}

  private record Held(Shard shard, Backing backing) {}

  private static final class Holding {
    private final WireSession session;
    private final ShardLeases<Held> shards = new ShardLeases<>();

    Holding(WireSession session) {
      this.session = session;
    }
  }

  /** Takes ownership of a shard, and joins the store's session with the first shard. */
  static void lease(
      StoreToken token, WireOptions wire, Nonce attempt, Shard shard, Backing backing) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(token.id());
      if (holding == null) {
        holding = new Holding(Wire.join(token, wire));
        holding.session.control().serve(new ResidentControl(token.id()));
        HOLDINGS.put(token.id(), holding);
      }
      holding.shards.lease(attempt, new Held(shard, backing));
    }
  }

  /** Begins the lease, in which the driver must confirm. Called when all ranks have loaded. */
  static void beginLease(Nonce store, Nonce attempt, Duration lease) {
    awaitTick(
        LEASE_TICKS,
        Math.max(1, lease.toMillis() / LEASE_TICKS),
        () -> {
          if (free(store, shards -> shards.expire(attempt), Shard::close)) {
            LOG.warn("store {}: rows were not confirmed within {}", store, lease);
          }
        });
  }

  /**
   * Runs an action after a number of ticks. A process that is stopped and continued meanwhile loses
   * at most one tick, however long it is stopped.
   */
  @SuppressWarnings("FutureReturnValueIgnored") // nothing waits for it
  private static void awaitTick(int ticks, long tickMs, Runnable action) {
    CompletableFuture.delayedExecutor(tickMs, TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              if (ticks > 1) {
                awaitTick(ticks - 1, tickMs, action);
              } else {
                action.run();
              }
            });
  }

  /**
   * Keeps the shards of an attempt, see {@link ShardLeases#confirm}.
   *
   * @return number of shards of the attempt that are here
   */
  static int confirm(Nonce store, Nonce attempt) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      return holding == null ? 0 : holding.shards.confirm(attempt);
    }
  }

  /** Frees the shards of an attempt, confirmed or not. Returns false if there are none. */
  static boolean forget(Nonce store, Nonce attempt) {
    return free(store, shards -> shards.forget(attempt), Shard::close);
  }

  /** Frees the unconfirmed shards of other attempts, which have failed. */
  public static void forgetOthers(Nonce store, Nonce attempt) {
    free(store, shards -> shards.forgetOthers(attempt), Shard::close);
  }

  /** Returns whether the caller must drop a store that is here: true for the first caller only. */
  static boolean beginDrop(Nonce store) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      return holding != null && holding.shards.beginDrop();
    }
  }

  /** Frees all shards of a store. Blocks while memory is unmapped. */
  static void drop(Nonce store) {
    free(store, ShardLeases::drop, Shard::drop);
  }

  /** Frees the shards that a decision names, and leaves the store with the last one. */
  private static boolean free(
      Nonce store, Function<ShardLeases<Held>, List<Held>> decision, Consumer<Shard> end) {
    List<Held> freed;
    WireSession left = null;
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return false;
      }
      freed = decision.apply(holding.shards);
      if (holding.shards.isEmpty()) {
        HOLDINGS.remove(store);
        left = holding.session;
      }
    }
    try {
      Cleanup.runAll(freed.stream().map(held -> (Runnable) () -> end.accept(held.shard())));
    } finally {
      if (left != null) {
        StoreMetrics.remove(store);
        boolean isVisited = Visit.isOpen(store);
        synchronized (HOLDINGS) {
          if (!isVisited && !HOLDINGS.containsKey(store)) { // else a new lease serves again
            left.control().serve(null);
          }
        }
        left.close();
      }
    }
    return !freed.isEmpty();
  }

  /** Lets readers from outside of Spark read a store here; see {@link WireSession}. */
  static OutsidePort openToOutsiders(Nonce store, Set<String> revokedLabels) {
    WireSession session;
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return new OutsidePort(0, "the process has left the store");
      }
      session = holding.session;
    }
    return session.openToOutsiders(revokedLabels);
  }

  static boolean holds(Nonce store) {
    synchronized (HOLDINGS) {
      return HOLDINGS.containsKey(store);
    }
  }

  /**
   * Returns the memory of the confirmed shards of all stores in this process, in bytes. Files on
   * disks do not count, and neither do shards of a load in progress, which counts them itself.
   */
  public static long memoryBytes() {
    synchronized (HOLDINGS) {
      return HOLDINGS.values().stream()
          .flatMap(holding -> holding.shards.confirmed().stream())
          .filter(held -> held.backing() != Backing.FILE)
          .mapToLong(held -> held.shard().bytes())
          .sum();
    }
  }

  /** Returns the report of this process about a store. */
  static ExecutorCounters counters(Nonce store) {
    List<ReaderStatistics> readers = StoreMetrics.readers(store);
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return new ExecutorCounters(0, 0, 0, 0, 0, readers, List.of());
      }
      List<Held> confirmed = holding.shards.confirmed();
      return new ExecutorCounters(
          confirmed.size(),
          confirmed.stream().mapToLong(held -> held.shard().rows()).sum(),
          confirmed.stream().mapToLong(held -> held.shard().bytes()).sum(),
          holding.shards.leased(),
          holding.session.servedRequests(),
          readers,
          holding.session.outsideReads());
    }
  }
}

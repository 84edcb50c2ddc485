package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.ddstore.Shard;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.cluster.ShardMemory;
import org.ddstore.spark.wire.StoreToken;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireOptions;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.types.Backing;
import org.ddstore.types.Cleanup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards of resident stores that this executor holds between jobs, by store. A shard comes here
 * when its rank has loaded it, and is kept for {@value #LEASE_SECONDS} seconds after all ranks have
 * loaded theirs; when the driver has heard of all of them it confirms it, and the shard stays until
 * the driver drops the store, or this process ends: files are deleted by the hook of their
 * directory then. So a load that fails, and a driver that dies, leave nothing behind. Time in which
 * this process is stopped does not count against the lease.
 *
 * <p>As long as shards of a store are here, this process is joined to it on the network, and
 * answers the driver's questions; see {@link ResidentControl}. Any thread.
 */
public final class ResidentShards {
  private static final int LEASE_SECONDS = 60;
  private static final int LEASE_TICKS = 60;

  /** How long the driver may take to hear of all ranks and to confirm. */
  public static final Duration LEASE = Duration.ofSeconds(LEASE_SECONDS);

  private static final Logger LOG = LoggerFactory.getLogger(ResidentShards.class);
  private static final Map<Nonce, Holding> HOLDINGS = new HashMap<>(); // guarded by itself

  static {
    ShardMemory.countResidentBy(ResidentShards::memoryBytes);
  }

  private ResidentShards() {}

  /** A shard, where it lies, and the attempt to load it. */
  private record Held(Shard shard, Backing backing, Nonce attempt) {}

  /** What this process has of one store. */
  private static final class Holding {
    private final WireSession session;
    private final List<Held> confirmed = new ArrayList<>();
    private final List<Held> leased = new ArrayList<>();
    private boolean isDropping;

    Holding(WireSession session) {
      this.session = session;
    }

    boolean isEmpty() {
      return confirmed.isEmpty() && leased.isEmpty();
    }

    /** Moves what an attempt has loaded out of the leased ones. */
    List<Held> take(Nonce attempt) {
      List<Held> taken = leased.stream().filter(held -> held.attempt().equals(attempt)).toList();
      leased.removeAll(taken);
      return taken;
    }
  }

  /**
   * What this process has of a store.
   *
   * @param shards how many
   * @param servedRequests gather requests of other processes
   */
  record Summary(int shards, long rows, long bytes, long servedRequests) {}

  /** Takes a shard over, and joins the store if this is the first one. */
  static void lease(
      StoreToken token, WireOptions wire, Nonce attempt, Shard shard, Backing backing) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(token.id());
      if (holding == null) {
        holding = new Holding(Wire.join(token, wire));
        holding.session.control().serve(new ResidentControl(token.id()));
        HOLDINGS.put(token.id(), holding);
      }
      holding.leased.add(new Held(shard, backing, attempt));
    }
  }

  /** Begins the time in which the driver has to confirm: all ranks have loaded. */
  static void beginLease(Nonce store, Nonce attempt, Duration lease) {
    awaitTick(
        LEASE_TICKS,
        Math.max(1, lease.toMillis() / LEASE_TICKS),
        () -> {
          if (free(store, held -> held.attempt().equals(attempt), true)) {
            LOG.warn("rows of {} were not confirmed within {}", store, lease);
          }
        });
  }

  /**
   * Runs an action after a number of ticks. A process that is stopped meanwhile, and goes on, has
   * lost one tick, whatever the time.
   */
  @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for it
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
   * Keeps what an attempt has loaded. The driver may ask again when an answer was lost.
   *
   * @return false if nothing of it is here: its lease has ended
   */
  static boolean confirm(Nonce store, Nonce attempt) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return false;
      }
      holding.confirmed.addAll(holding.take(attempt));
      return holding.confirmed.stream().anyMatch(held -> held.attempt().equals(attempt));
    }
  }

  /** Frees what an attempt has loaded, confirmed or not. False if nothing of it is here. */
  static boolean forget(Nonce store, Nonce attempt) {
    return free(store, held -> held.attempt().equals(attempt), false);
  }

  /** Frees what attempts have loaded that have failed: those not confirmed, but this one. */
  public static void forgetOthers(Nonce store, Nonce attempt) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return;
      }
    }
    free(store, held -> !held.attempt().equals(attempt), true);
  }

  /** Whether the caller is to drop a store that is here: true for one caller. */
  static boolean beginDrop(Nonce store) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null || holding.isDropping) {
        return false;
      }
      holding.isDropping = true;
      return true;
    }
  }

  /** Frees everything of a store. Blocks while memory is unmapped. */
  static void drop(Nonce store) {
    free(store, held -> true, false);
  }

  private static boolean free(
      Nonce store, java.util.function.Predicate<Held> which, boolean onlyLeased) {
    List<Held> freed = new ArrayList<>();
    WireSession left = null;
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return false;
      }
      holding.leased.stream().filter(which).forEach(freed::add);
      if (!onlyLeased) {
        holding.confirmed.stream().filter(which).forEach(freed::add);
      }
      holding.leased.removeAll(freed);
      holding.confirmed.removeAll(freed);
      if (holding.isEmpty()) {
        HOLDINGS.remove(store);
        left = holding.session;
      }
    }
    try {
      Cleanup.runAll(freed.stream().map(held -> (Runnable) held.shard()::close));
    } finally {
      if (left != null) {
        StoreMetrics.remove(store);
        synchronized (HOLDINGS) {
          if (!HOLDINGS.containsKey(store)) { // else a new lease serves again
            left.control().serve(null);
          }
        }
        left.close();
      }
    }
    return !freed.isEmpty();
  }

  /** Whether this process has rows of a store. */
  static boolean holds(Nonce store) {
    synchronized (HOLDINGS) {
      return HOLDINGS.containsKey(store);
    }
  }

  /**
   * Bytes of memory that stay taken here by all stores. Files on a disk do not count, nor what a
   * load has brought that has not ended: it counts that itself.
   */
  public static long memoryBytes() {
    synchronized (HOLDINGS) {
      return HOLDINGS.values().stream()
          .flatMap(holding -> holding.confirmed.stream())
          .filter(held -> held.backing() != Backing.FILE)
          .mapToLong(held -> held.shard().bytes())
          .sum();
    }
  }

  /** What is here of a store. */
  static Summary summary(Nonce store) {
    synchronized (HOLDINGS) {
      Holding holding = HOLDINGS.get(store);
      if (holding == null) {
        return new Summary(0, 0, 0, 0);
      }
      long rows = 0;
      long bytes = 0;
      for (Held held : holding.confirmed) {
        rows += held.shard().rows();
        bytes += held.shard().bytes();
      }
      return new Summary(holding.confirmed.size(), rows, bytes, holding.session.servedRequests());
    }
  }
}

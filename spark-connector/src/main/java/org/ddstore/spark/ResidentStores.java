// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.ddstore.spark.backend.SharedLoss;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.job.ResidentView;
import org.ddstore.spark.monitor.MonitorView;
import org.ddstore.spark.resident.Parallel;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.WriteLock;
import org.ddstore.spark.ui.StoreLog;
import org.ddstore.spark.ui.StoresTabs;
import org.ddstore.types.Plural;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resident stores of one application, by name. Marks shards of removed executors as lost, and
 * drops all stores when the application ends. Used on the driver. Thread-safe.
 */
final class ResidentStores implements ResidentView {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentStores.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,128}");
  private static final Map<SparkContext, ResidentStores> ALL = new HashMap<>(); // guarded by itself

  private final Map<String, ResidentStore> stores = new TreeMap<>(); // guarded by this
  private final Map<String, WriteLock> locks = new ConcurrentHashMap<>();
  private final Set<String> removedExecutors = ConcurrentHashMap.newKeySet();
  private boolean ended; // guarded by this
  private final SparkContext context;
  private final DecommissionWatch decommissions = new DecommissionWatch(this::list);
  private final ApplicationMonitor monitor;
  private final StoreLog log;

  private ResidentStores(SparkContext context) {
    this.context = context;
    this.log = new StoreLog(context);
    this.monitor = new ApplicationMonitor(context, this::list, log);
  }

  /** Returns what the pages of an application show of its stores. */
  static MonitorView monitor(SparkContext context) {
    return of(context).monitor;
  }

  /** Returns the stores of an application, and listens to its events from the first call on. */
  static ResidentStores of(SparkContext context) {
    ResidentStores added;
    boolean hasTab;
    synchronized (ALL) {
      ALL.keySet().removeIf(SparkContext::isStopped);
      ResidentStores known = ALL.get(context);
      if (known != null) {
        return known;
      }
      hasTab = StoresTabs.isEnabled(context); // refuses an illegal setting before any effect
      added = new ResidentStores(context);
      context.addSparkListener(added.new Watch());
      ALL.put(context, added);
    }
    if (hasTab) {
      StoresTabs.attach(context, added.monitor);
    }
    return added;
  }

  /** A listener to the ends of executors and of the application; called by one thread at a time. */
  private final class Watch extends SparkListener {
    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
      removedExecutors.add(removed.executorId());
      list().forEach(store -> store.places().markLost(Set.of(removed.executorId())));
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      end();
    }
  }

  private void end() {
    List<ResidentStore> last;
    synchronized (this) {
      ended = true;
      last = new ArrayList<>(stores.values());
    }
    // First: Spark stops the listener bus soon.
    Interrupts.cleanUp("last summaries", () -> log.end(monitor::stores));
    Parallel.forEach(
        "ddstore-end", last, ResidentStores::drop); // so that one that hangs delays none
  }

  private static void drop(ResidentStore store) {
    try {
      store.end();
    } catch (RuntimeException e) {
      LOG.warn("drop at the end of the application failed: {}", store, e);
    }
  }

  /**
   * Runs an action while no other thread of the application loads, appends to or replaces the store
   * of this name. A store that the action finds remains until the action ends, unless it is
   * dropped.
   *
   * @throws IllegalArgumentException if the name is not a legal store name
   * @throws org.ddstore.types.DeadlineExceededException if another write is still in progress after
   *     the timeout
   * @throws org.ddstore.types.DDStoreException if the thread is interrupted while it waits
   */
  <T> T writing(String name, Duration timeout, Supplier<T> action) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "illegal store name \"%s\": use 1 to 128 letters, digits, _ and -".formatted(name));
    }
    return locks.computeIfAbsent(name, WriteLock::new).hold(timeout, action);
  }

  /**
   * Loads and registers a store while no other thread writes a store of this name.
   *
   * @param timeout maximum time to wait for other writers
   * @param inPlace true to drop the existing store of this name after the load; false to refuse the
   *     load if one exists
   * @param load function that loads the store; called after the name has been checked
   */
  ResidentStore load(
      String name,
      Duration timeout,
      boolean inPlace,
      Function<ResidentStores, ResidentStore> load) {
    return writing(name, timeout, () -> loadAlone(name, inPlace, load));
  }

  private ResidentStore loadAlone(
      String name, boolean inPlace, Function<ResidentStores, ResidentStore> load) {
    find(name).ifPresent(existing -> checkReplaceable(existing, inPlace));
    long start = System.nanoTime();
    ResidentStore store = load.apply(this);
    ResidentLayout loaded = store.places().now(); // later losses are events of their own
    ResidentStore before;
    boolean late;
    synchronized (this) {
      late = ended;
      before = late ? null : stores.put(name, store);
    }
    if (late) {
      store.end();
      throw new IllegalStateException("the application ended while \"" + name + "\" was loading");
    }
    // The store is registered: this is the commit point, and nothing is thrown after it.
    store
        .events()
        .loaded(
            store.origin().dump().isPresent() ? "restored" : "loaded",
            loaded,
            start,
            before == null ? "" : ", instead of " + Plural.of(before.rows(), "row"));
    // The store received no events before, so it looks for lost executors now.
    store.places().markLost(removedExecutors);
    Interrupts.cleanUp("look for lost executors", store.places()::findLost);
    decommissions.start(context);
    monitor.start();
    TransportBackends.sharedLosses(context).forEach(store::warnOf);
    if (before != null) {
      Interrupts.cleanUp("drop of the replaced store \"" + name + "\"", before::end);
    }
    return store;
  }

  private static void checkReplaceable(ResidentStore existing, boolean inPlace) {
    if (!inPlace) {
      throw new IllegalArgumentException(
          "store \"%s\" already exists: %s. Call drop() on it first, call replace(\"%s\") instead, or use another name"
              .formatted(existing.name(), existing, existing.name()));
    }
    existing.checkOwner("replace");
  }

  void remove(ResidentStore store) {
    boolean isDropped;
    synchronized (this) {
      isDropped = stores.remove(store.name(), store) && !ended;
    }
    if (isDropped) {
      // Memory is freed after this, whatever happens here.
      Interrupts.cleanUp("last summary", () -> log.dropped(store.lastStatistics()));
    }
    monitor.storesChanged();
  }

  synchronized Optional<ResidentStore> find(String name) {
    return Optional.ofNullable(stores.get(name));
  }

  synchronized ResidentStore open(String name) {
    ResidentStore store = stores.get(name);
    if (store == null) {
      throw new IllegalArgumentException(
          "no store \"%s\" in this application; known stores: %s".formatted(name, stores.keySet()));
    }
    return store;
  }

  /** Returns the memory of all stores in bytes, by executor; files on disks do not count. */
  @Override
  public Map<String, Long> memoryBytes() {
    Map<String, Long> byExecutor = new HashMap<>();
    for (ResidentStore store : list()) {
      if (!store.isInFiles()) {
        store.shards().stream()
            .filter(shard -> !shard.isLost())
            .forEach(shard -> byExecutor.merge(shard.executorId(), shard.bytes(), Long::sum));
      }
    }
    return byExecutor;
  }

  synchronized List<ResidentStore> list() {
    return List.copyOf(stores.values());
  }

  @Override
  public List<String> lossWith(Set<String> executors) {
    return list().stream().flatMap(store -> store.lossWith(executors).stream()).toList();
  }

  @Override
  public void warnOf(SharedLoss loss) {
    list().forEach(store -> store.warnOf(loss));
  }
}

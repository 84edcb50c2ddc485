// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watch that copies the rows of executors that are being decommissioned to other executors before
 * they end. Spark has no event for the start of a decommission, so a daemon thread polls the
 * scheduler while stores exist. It sends no requests to executors.
 */
final class DecommissionWatch {
  private static final Logger LOG = LoggerFactory.getLogger(DecommissionWatch.class);
  private static final Duration PERIOD = Duration.ofMillis(500);

  /** Time from one attempt to copy the rows of a store to the next. */
  private static final Duration RETRY_PERIOD = Duration.ofSeconds(10);

  private final Supplier<List<ResidentStore>> stores;
  private Thread thread; // guarded by this

  /**
   * @param stores the stores of the application
   */
  DecommissionWatch(Supplier<List<ResidentStore>> stores) {
    this.stores = stores;
  }

  /** Starts the thread if executors can be decommissioned and the thread does not run. */
  synchronized void start(SparkContext context) {
    boolean isNeeded =
        !context.isLocal() && context.getConf().getBoolean("spark.decommission.enabled", false);
    if (isNeeded && (thread == null || !thread.isAlive())) {
      thread = newThread("ddstore-decommission", this::watch);
      thread.start();
    }
  }

  /**
   * Returns a daemon thread that inherits no thread-locals, because those of Spark hold the user,
   * the job tags and the pool of the thread that loads the first store.
   */
  private static Thread newThread(String name, Runnable action) {
    Thread thread = new Thread(null, action, name, 0, false);
    thread.setDaemon(true);
    return thread;
  }

  private void watch() {
    Map<ResidentStore, Evacuation> evacuations = new HashMap<>();
    while (hasStores()) {
      List<ResidentStore> present = stores.get();
      evacuations.keySet().retainAll(new HashSet<>(present));
      for (ResidentStore store : present) {
        evacuations.computeIfAbsent(store, Evacuation::new).check();
      }
      LockSupport.parkNanos(PERIOD.toNanos());
    }
  }

  /** Returns whether stores exist; if not, forgets the thread, so that a later store starts one. */
  private synchronized boolean hasStores() {
    if (stores.get().isEmpty()) {
      thread = null;
      return false;
    }
    return true;
  }

  /**
   * The evacuation of one store. It has its own thread, so that a store that is being written does
   * not delay others.
   */
  private static final class Evacuation {
    private final ResidentStore store;
    private Thread copying;
    private long nextNs = System.nanoTime();
    private Set<String> reported = Set.of(); // used only by the copying thread

    Evacuation(ResidentStore store) {
      this.store = store;
    }

    /** Starts a copy unless one is in progress or the retry period still runs. Does not block. */
    void check() {
      if ((copying != null && copying.isAlive()) || System.nanoTime() - nextNs < 0) {
        return;
      }
      try {
        Set<String> leaving = store.places().leaving();
        if (!leaving.isEmpty()) {
          nextNs = System.nanoTime() + RETRY_PERIOD.toNanos();
          copying = newThread("ddstore-decommission-" + store.name(), () -> copyAway(leaving));
          copying.start();
        }
      } catch (RuntimeException e) {
        LOG.debug("store \"{}\": decommissioning executors are unknown", store.name(), e);
      }
    }

    private void copyAway(Set<String> leaving) {
      try {
        store.copyAway();
      } catch (RuntimeException | Error e) {
        if (!store.isDropped() && !reported.equals(leaving)) {
          reported = leaving;
          LOG.warn(
              "store \"{}\": rows of decommissioning executors {} were not copied to others, next attempt"
                  + " in {} s: {}",
              store.name(),
              leaving,
              RETRY_PERIOD.toSeconds(),
              e.toString());
        }
      }
    }
  }
}

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
 * Copies the rows of executors that are being decommissioned to others before they end. Spark has
 * no event for the start of a decommission, so a daemon thread asks the scheduler as long as there
 * are stores; it asks nothing of executors.
 */
final class DecommissionWatch {
  private static final Logger LOG = LoggerFactory.getLogger(DecommissionWatch.class);
  private static final Duration PERIOD = Duration.ofMillis(500);

  /** From one try to copy the rows of a store to the next. */
  private static final Duration RETRY_PERIOD = Duration.ofSeconds(10);

  private final Supplier<List<ResidentStore>> stores;
  private Thread thread; // guarded by this

  /**
   * @param stores the stores of the application
   */
  DecommissionWatch(Supplier<List<ResidentStore>> stores) {
    this.stores = stores;
  }

  /** Starts the thread unless it runs, if executors of the application can be decommissioned. */
  synchronized void start(SparkContext context) {
    boolean isNeeded =
        !context.isLocal() && context.getConf().getBoolean("spark.decommission.enabled", false);
    if (isNeeded && (thread == null || !thread.isAlive())) {
      thread = newThread("ddstore-decommission", this::watch);
      thread.start();
    }
  }

  /**
   * A daemon thread that inherits no thread-local: those of Spark name the user, the job tags and
   * the pool of the thread that loads the first store.
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

  /** Ends the thread if there is no store; a later one starts another. */
  private synchronized boolean hasStores() {
    if (stores.get().isEmpty()) {
      thread = null;
      return false;
    }
    return true;
  }

  /**
   * The copies of one store, by a thread of its own: a store that is being written holds up no
   * other.
   */
  private static final class Evacuation {
    private final ResidentStore store;
    private Thread copying;
    private long nextNs = System.nanoTime();
    private Set<String> reported = Set.of(); // used by the thread that copies

    Evacuation(ResidentStore store) {
      this.store = store;
    }

    /** Starts to copy unless that is in progress or was tried a moment ago. Does not block. */
    void check() {
      if ((copying != null && copying.isAlive()) || System.nanoTime() - nextNs < 0) {
        return;
      }
      try {
        Set<String> leaving = store.leaving();
        if (!leaving.isEmpty()) {
          nextNs = System.nanoTime() + RETRY_PERIOD.toNanos();
          copying = newThread("ddstore-decommission-" + store.name(), () -> copyAway(leaving));
          copying.start();
        }
      } catch (RuntimeException e) {
        LOG.debug("executors of \"{}\" that are being decommissioned are unknown", store.name(), e);
      }
    }

    private void copyAway(Set<String> leaving) {
      try {
        store.copyAway();
      } catch (RuntimeException | Error e) {
        if (!store.isDropped() && !reported.equals(leaving)) {
          reported = leaving;
          LOG.warn(
              "\"{}\": rows of executors {}, which are being decommissioned, were not copied to others and are tried again every {} s: {}",
              store.name(),
              leaving,
              RETRY_PERIOD.toSeconds(),
              e.toString());
        }
      }
    }
  }
}

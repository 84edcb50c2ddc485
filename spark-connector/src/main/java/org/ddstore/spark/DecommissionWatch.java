package org.ddstore.spark;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
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

  private final Supplier<List<ResidentStore>> stores;
  private Thread thread; // guarded by this

  /** Executors of which a repair has failed: it is not tried again for these alone. */
  private final Set<String> failed = new TreeSet<>(); // used by the thread

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
    if (isNeeded && thread == null) {
      thread = new Thread(this::watch, "ddstore-decommission");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void watch() {
    while (hasStores()) {
      stores.get().forEach(this::copyAway);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PERIOD.toMillis()));
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

  private void copyAway(ResidentStore store) {
    Set<String> leaving = Set.of();
    try {
      leaving = store.leaving();
      if (!failed.containsAll(leaving)) {
        store.repair();
      }
    } catch (RuntimeException e) {
      if (!store.isDropped()) {
        failed.addAll(leaving);
        LOG.warn(
            "\"{}\": rows of executors {}, which are being decommissioned, were not copied to others: {}",
            store.name(),
            leaving,
            e.getMessage());
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.ddstore.spark.monitor.MonitorView;
import org.ddstore.spark.monitor.ReadSample;
import org.ddstore.spark.monitor.StoreJournal;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreStatistics;
import org.ddstore.spark.ui.StoreLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver knows of the stores of an application. While stores exist, a daemon thread asks
 * all executors that hold rows for their counters every 10 s. An executor that does not answer
 * delays no other, and its last report stays.
 */
final class ApplicationMonitor implements MonitorView {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationMonitor.class);
  private static final Duration PERIOD = Duration.ofSeconds(10);

  /** Time limit of the answers, after which the reads of all stores are sampled. */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(4);

  private final SparkContext context;
  private final Supplier<List<ResidentStore>> stores;
  private final StoreLog log;
  private Thread thread; // guarded by this

  /**
   * @param stores the stores of the application, by name
   * @param log log that receives summaries
   */
  ApplicationMonitor(SparkContext context, Supplier<List<ResidentStore>> stores, StoreLog log) {
    this.context = context;
    this.stores = stores;
    this.log = log;
  }

  /**
   * Starts the thread if it does not run. It inherits no thread-locals, because those of Spark hold
   * the user and the job tags of the thread that loads the first store.
   */
  synchronized void start() {
    if (thread == null || !thread.isAlive()) {
      thread = new Thread(null, this::watch, "ddstore-monitor", 0, false);
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Ends the thread if no stores are left. */
  synchronized void storesChanged() {
    notifyAll();
  }

  private void watch() {
    long nextNs = System.nanoTime();
    while (hasStoresAt(nextNs)) {
      nextNs = System.nanoTime() + PERIOD.toNanos(); // no bursts after a pause of the driver
      try {
        collect();
      } catch (RuntimeException e) {
        LOG.debug("the reads of stores could not be collected", e);
      }
    }
  }

  /** Waits until a time. Returns false without a wait if no stores are left. */
  private synchronized boolean hasStoresAt(long timeNs) {
    try {
      while (!stores.get().isEmpty()) {
        long leftNs = timeNs - System.nanoTime();
        if (leftNs <= 0) {
          return true;
        }
        TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      }
    } catch (InterruptedException e) {
      LOG.debug("interrupted: the next store starts the monitor again", e);
    }
    thread = null;
    return false;
  }

  /** Blocks for at most {@link #ANSWER_LIMIT}. */
  private void collect() {
    List<ResidentStore> present = stores.get();
    List<CompletableFuture<Void>> answers = new ArrayList<>();
    for (ResidentStore store : present) {
      store.places().findLost();
      answers.add(store.reports().refresh(ANSWER_LIMIT));
    }
    answers.forEach(CompletableFuture::join);
    present.forEach(store -> store.reports().sample());
    log.summarize(this::stores);
  }

  @Override
  public List<StoreStatistics> stores() {
    return stores.get().stream().map(ResidentStore::lastStatistics).toList();
  }

  @Override
  public List<StoreEvent> events() {
    return StoreJournal.of(context).events();
  }

  @Override
  public List<ReadSample> samples(String store) {
    return stores.get().stream()
        .filter(present -> present.name().equals(store))
        .findAny()
        .map(present -> present.reports().samples())
        .orElse(List.of());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.ddstore.memory.Nonce;
import org.ddstore.spark.wire.Wire;
import org.ddstore.spark.wire.WireSession;
import org.ddstore.spark.wire.connection.WireOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A time in which an executor without shards of a store reads it. The executor joins the store's
 * session and registers at the driver, which then asks it for its counters like those that hold
 * rows. A visit ends when the driver drops the store, or some time after the last reader, in which
 * the driver has asked once more. Only these counters depend on it: failures are logged for
 * debugging.
 */
final class Visit {
  /** Time that a visit outlasts its last reader: longer than the driver's period and limit. */
  private static final Duration STAY = Duration.ofSeconds(20);

  private static final Duration REGISTER_LIMIT = Duration.ofSeconds(5);
  private static final Logger LOG = LoggerFactory.getLogger(Visit.class);
  private static final Map<Nonce, Visit> OPEN = new HashMap<>(); // guarded by itself

  private final Nonce number = Nonce.random();
  private final WireSession session;

  private Visit(WireSession session) {
    this.session = session;
  }

  /** Begins a visit, unless there is one. Does not block; not for the driver. */
  static void begin(StoreSnapshot store) {
    SparkEnv env = SparkEnv.get();
    if (env == null || env.executorId().equals(ExecutorReports.DRIVER)) {
      return;
    }
    Nonce id = store.token().id();
    Visit visit;
    synchronized (OPEN) {
      if (OPEN.containsKey(id)) {
        return;
      }
      visit = new Visit(Wire.join(store.token(), WireOptions.of(env, store.settings().port())));
      visit.session.control().serve(new ResidentControl(id));
      OPEN.put(id, visit);
    }
    Thread thread = new Thread(() -> visit.register(store, env.executorId()), "ddstore-visit");
    thread.setDaemon(true);
    thread.start();
  }

  private void register(StoreSnapshot store, String executorId) {
    try {
      session
          .control()
          .call(
              store.driver(),
              new VisitRegistration(number, executorId, session.local()).encode(),
              System.nanoTime() + REGISTER_LIMIT.toNanos());
    } catch (RuntimeException e) {
      LOG.debug("the driver does not learn what this executor reads of {}", store, e);
      end(store.token().id());
    }
  }

  static boolean isOpen(Nonce store) {
    synchronized (OPEN) {
      return OPEN.containsKey(store);
    }
  }

  /** Ends a visit some time from now, if it has no reader until then. */
  @SuppressWarnings("FutureReturnValueIgnored") // nothing waits for it
  static void leaveLater(StoreMetrics metrics, Nonce store) {
    CompletableFuture.delayedExecutor(STAY.toMillis(), TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              if (metrics.forgetIfLeft()) {
                end(store);
              }
            });
  }

  /** Ends a visit and forgets its counts. Idempotent. */
  static void end(Nonce store) {
    Visit visit;
    synchronized (OPEN) {
      visit = OPEN.remove(store);
      if (visit != null && !ResidentShards.holds(store)) {
        visit.session.control().serve(null);
      }
    }
    if (visit != null) {
      StoreMetrics.forgetLeft(store);
      visit.session.close();
    }
  }
}

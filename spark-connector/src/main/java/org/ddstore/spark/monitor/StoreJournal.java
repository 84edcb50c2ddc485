// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.monitor;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.ddstore.spark.types.StoreEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of all stores of one application: logs one line for each, keeps the last {@value
 * #KEPT}, and tells them to listeners. Used on the driver. Thread-safe.
 */
public final class StoreJournal {
  private static final Logger LOG = LoggerFactory.getLogger(StoreJournal.class);
  private static final int KEPT = 512;
  private static final Map<SparkContext, StoreJournal> ALL = new HashMap<>(); // guarded by itself

  /** Characters that would begin another line, or change a terminal that shows the log. */
  private static final Pattern CONTROLS = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

  private final Deque<StoreEvent> events = new ArrayDeque<>(); // guarded by itself
  private final List<Consumer<StoreEvent>> listeners = new CopyOnWriteArrayList<>();

  StoreJournal() {}

  /** Returns the journal of an application. */
  public static StoreJournal of(SparkContext context) {
    synchronized (ALL) {
      ALL.keySet().removeIf(SparkContext::isStopped);
      return ALL.computeIfAbsent(context, made -> new StoreJournal());
    }
  }

  /** Calls a listener for each later event, in the thread that records it. It must not block. */
  public void listen(Consumer<StoreEvent> listener) {
    listeners.add(Objects.requireNonNull(listener, "listener is null"));
  }

  /**
   * Logs and keeps an event, with spaces for the control characters of its text. A loss is a
   * warning. A failing listener is logged and does not fail the caller.
   */
  public void record(StoreEvent given) {
    StoreEvent event = given.withText(CONTROLS.matcher(given.text()).replaceAll(" "));
    synchronized (events) {
      if (events.size() == KEPT) {
        events.removeFirst();
      }
      events.addLast(event);
    }
    String subject =
        event.store().isEmpty() ? "run without a store" : "store \"%s\"".formatted(event.store());
    if (event.kind() == StoreEvent.Kind.LOSS) {
      LOG.warn("{}: {}", subject, event.text());
    } else {
      LOG.info("{}: {}", subject, event.text());
    }
    for (Consumer<StoreEvent> listener : listeners) {
      try {
        listener.accept(event);
      } catch (RuntimeException e) {
        LOG.debug("a listener failed on {}", event, e);
      }
    }
  }

  /** Returns the events that are kept, oldest first. */
  public List<StoreEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }
}

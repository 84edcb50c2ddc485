package org.ddstore.spark.resident;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkContext;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.types.ProcessAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the rows of a resident store are now: loads and repairs change it, and the loss of
 * executors. Any thread.
 */
public final class ResidentPlaces {
  private static final Logger LOG = LoggerFactory.getLogger(ResidentPlaces.class);

  private final String name;
  private final SparkContext context;
  private final Supplier<String> description;

  /** Who has ever held something. */
  private final Map<String, ProcessAddress> holders = new TreeMap<>(); // guarded by this

  private volatile ResidentLayout layout; // changed under this
  private volatile boolean ended; // set under this

  /**
   * @param description of the store, for errors
   */
  public ResidentPlaces(
      String name, SparkContext context, ResidentLayout layout, Supplier<String> description) {
    this.name = name;
    this.context = context;
    this.description = description;
    this.layout = layout;
    this.holders.putAll(layout.processes());
  }

  public ResidentLayout now() {
    return layout;
  }

  /**
   * Changes it: the commit point of a change. Who of it is gone is for {@link #findLost}.
   *
   * @param to may throw, if {@link #isEnded()}: then nothing changes
   */
  synchronized void change(UnaryOperator<ResidentLayout> to) {
    layout = to.apply(layout);
    holders.putAll(layout.processes());
  }

  /** Executors are gone. */
  public void lose(Set<String> executors) {
    ResidentLayout before;
    ResidentLayout after;
    synchronized (this) {
      before = layout;
      after = before.without(executors);
      layout = after;
    }
    if (after != before) {
      LOG.warn(
          "\"{}\" has lost {} shards with executors {}",
          name,
          after.lost().size() - before.lost().size(),
          executors);
    }
  }

  /**
   * Asks Spark which executors are gone: its events are late, come before a store is known, and are
   * lost when there are too many of them.
   *
   * @return where the rows are now
   */
  public ResidentLayout findLost() {
    lose(LiveExecutors.gone(context, layout.executors()));
    return layout;
  }

  /** The executors with rows that are being decommissioned. */
  public Set<String> leaving() {
    return LiveExecutors.leaving(context, layout.executors());
  }

  public boolean isEnded() {
    return ended;
  }

  /**
   * Ends it.
   *
   * @return who has something to free; empty if it was ended before
   */
  public Optional<Collection<ProcessAddress>> end() {
    Map<String, ProcessAddress> left;
    synchronized (this) {
      if (ended) {
        return Optional.empty();
      }
      ended = true;
      left = new TreeMap<>(holders);
    }
    Set<String> known = layout.executors();
    left.keySet().removeIf(id -> !known.contains(id) && !LiveExecutors.serves(context, id));
    return Optional.of(left.values());
  }

  /** Throws an IllegalStateException if the store has been dropped. */
  public void checkLive() {
    if (ended) {
      throw dropped(null);
    }
  }

  /**
   * Returns the error of a store that has been dropped.
   *
   * @param failure that followed from it; null if there is none
   */
  IllegalStateException dropped(RuntimeException failure) {
    return new IllegalStateException("dropped: " + description.get(), failure);
  }
}

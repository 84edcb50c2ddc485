// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.loader.Loader;
import org.ddstore.loader.Stage;
import org.ddstore.loader.StageStatistics;
import org.ddstore.spark.types.LoaderTimes;

/** The times of the loaders that a rank has opened on the rows of one store. Thread-safe. */
public final class LoaderWatch {
  private final List<Loader> open = new ArrayList<>(); // guarded by this
  private LoaderTimes ofClosed = LoaderTimes.none(); // guarded by this

  /** Adds a loader, and releases those that are closed: a task may open one per epoch. */
  public synchronized void add(Loader loader) {
    for (Loader known : List.copyOf(open)) {
      if (known.isClosed()) {
        ofClosed = ofClosed.plus(timesOf(known));
        open.remove(known);
      }
    }
    open.add(loader);
  }

  /** Returns the sum of all loaders, up to now. */
  public synchronized LoaderTimes times() {
    return open.stream().map(LoaderWatch::timesOf).reduce(ofClosed, LoaderTimes::plus);
  }

  private static LoaderTimes timesOf(Loader loader) {
    List<StageStatistics> stages = loader.statistics();
    return new LoaderTimes(
        loader.batches(),
        stages.get(Stage.TRAINER_WAITS.index()).totalNanos(),
        stages.get(Stage.BATCH_WAITS.index()).totalNanos(),
        stages.get(Stage.READ.index()).totalNanos(),
        loader.computeNanos());
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.monitor;

import java.util.List;
import org.ddstore.spark.types.StoreEvent;
import org.ddstore.spark.types.StoreStatistics;

/** What the pages of an application show of its stores. No method blocks. Thread-safe. */
public interface MonitorView {
  /** Returns the stores, by name, as of the last collection. */
  List<StoreStatistics> stores();

  /** Returns the last events of all stores, also of dropped ones, oldest first. */
  List<StoreEvent> events();

  /** Returns the last samples of the reads of a store, oldest first; empty for other names. */
  List<ReadSample> samples(String store);
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** The tab of the stores in Spark's history server, which creates it as a service. */
public final class StoresHistory implements AppHistoryServerPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(StoresHistory.class);

  /** Creates the plug-in, for the service loader. */
  public StoresHistory() {}

  @Override
  @SuppressWarnings("unchecked") // the empty list has elements of every type
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    Seq<SparkListener> none = (Seq<SparkListener>) (Seq<?>) Nil$.MODULE$;
    return (Seq<SparkListener>) none.appended(new StoreLogReader(store));
  }

  /** Adds the tab if the log of the application has stores. */
  @Override
  public void setupUI(SparkUI ui) {
    try {
      LogSource source = new LogSource(ui.store().store());
      if (!source.isEmpty()) {
        StoresTabs.attach(ui, source);
      }
    } catch (RuntimeException e) { // would cost the other tabs
      LOG.warn("application {} has no tab of stores", ui.appId(), e);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.cluster;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.types.DDStoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of segments that lost executors leave on the driver's host. Deletes them when Spark
 * reports the loss. On other hosts, executors that are alive do (see {@link ProcessDirectory}).
 */
final class LostExecutorFiles extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(LostExecutorFiles.class);

  /** Seconds after the report: Spark may report an executor before its process has ended. */
  private static final int[] SWEEPS_SECONDS = {0, 2, 10, 30};

  /** Guarded by itself. */
  private static final Map<SparkContext, LostExecutorFiles> ALL = new WeakHashMap<>();

  private final Set<Path> roots = ConcurrentHashMap.newKeySet();

  private LostExecutorFiles() {}

  /**
   * Watches for lost executors until the application ends.
   *
   * @param root directory in which executors create their directories
   */
  static void watch(SparkContext context, Path root) {
    LostExecutorFiles files;
    synchronized (ALL) {
      files = ALL.get(context);
      if (files == null) {
        files = new LostExecutorFiles();
        context.addSparkListener(files);
        ALL.put(context, files);
      }
    }
    files.roots.add(root);
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    for (int seconds : SWEEPS_SECONDS) {
      CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS).execute(this::sweep);
    }
  }

  private void sweep() {
    for (Path root : roots) {
      try {
        ProcessDirectory.sweepDead(root);
      } catch (DDStoreException e) {
        LOG.warn("files of lost executors remain: {}", e.getMessage());
      }
    }
  }
}

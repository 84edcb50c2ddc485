// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.util.TaskInterruptListener;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The task of one scan. Sources of Spark free their buffers in listeners to the end of the task,
 * but a rank needs its task long after its rows are read. In the context of the scan, the end of
 * the scan is the end of the task; everything else is that of the real task. For the thread of the
 * task.
 */
final class SliceContext {
  private final TaskContext task;
  private final TaskContext scan;

  SliceContext(TaskContext task) {
    this.task = task;
    if (SparkInternals.hasWholeCpus()) {
      scan = new WholeCpusContext(task);
    } else {
      scan = SparkInternals.newTaskContext(task);
      InterruptForwarding.add(task, scan);
    }
  }

  /** The context of a scan up to Spark 4.2. Classes of later releases have no such parent. */
  private static final class WholeCpusContext extends TaskContextImpl {
    private static final long serialVersionUID = 1L;

    private final transient TaskContext task;

    WholeCpusContext(TaskContext task) {
      super(
          task.stageId(),
          task.stageAttemptNumber(),
          task.partitionId(),
          task.taskAttemptId(),
          task.attemptNumber(),
          task.numPartitions(),
          task.taskMemoryManager(),
          task.getLocalProperties(),
          SparkEnv.get().metricsSystem(),
          task.taskMetrics(),
          task.cpus(),
          task.resources());
      this.task = task;
    }

    @Override
    public boolean isInterrupted() {
      return task.isInterrupted();
    }

    @Override
    public Option<String> getKillReason() {
      return task.getKillReason();
    }

    @Override
    public void killTaskIfInterrupted() {
      task.killTaskIfInterrupted();
    }
  }

  /** Interrupts the scan with its task, from Spark 4.3 on. Listeners are newer than Spark 4.1. */
  private static final class InterruptForwarding {
    private InterruptForwarding() {}

    static void add(TaskContext task, TaskContext scan) {
      TaskInterruptListener listener = (interrupted, reason) -> scan.markInterrupted(reason);
      task.addTaskInterruptListener(listener); // at once, if the task is interrupted already
    }
  }

  /** Returns what the code of the scan sees as its task. */
  TaskContext scan() {
    return scan;
  }

  /** Returns the elements of a source whose code sees this context as that of its task. */
  <T> Iterator<T> elements(Iterator<T> source) {
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        enter();
        try {
          return source.hasNext();
        } finally {
          leave();
        }
      }

      @Override
      public T next() {
        enter();
        try {
          return source.next();
        } finally {
          leave();
        }
      }
    };
  }

  void enter() {
    TaskContext$.MODULE$.setTaskContext(scan);
  }

  void leave() {
    TaskContext$.MODULE$.setTaskContext(task);
    if (scan.fetchFailed().isDefined()) { // Spark looks for it in the real task
      task.setFetchFailed(scan.fetchFailed().get());
    }
  }

  void end() {
    enter();
    try {
      scan.markTaskCompleted(Option.empty());
    } finally {
      leave();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.shuffle.FetchFailedException;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The task of one scan. Sources of Spark free their buffers in listeners to the end of the task,
 * but a rank needs its task long after its rows are read. In this context the end of the scan is
 * the end of the task; everything else is that of the real task. For the thread of the task.
 */
final class SliceContext extends TaskContextImpl {
  private static final long serialVersionUID = 1L;

  private final transient TaskContext task;

  SliceContext(TaskContext task) {
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

  /** Spark looks for a failed fetch in the real task. */
  @Override
  public void setFetchFailed(FetchFailedException failed) {
    task.setFetchFailed(failed);
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
    TaskContext$.MODULE$.setTaskContext(this);
  }

  void leave() {
    TaskContext$.MODULE$.setTaskContext(task);
  }

  void end() {
    enter();
    try {
      markTaskCompleted(Option.empty());
    } finally {
      leave();
    }
  }
}

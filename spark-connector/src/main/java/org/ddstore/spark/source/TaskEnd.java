package org.ddstore.spark.source;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** Actions that run when a Spark task ends, whether it succeeds or fails. */
final class TaskEnd {
  private TaskEnd() {}

  /**
   * Registers an action; call on the thread of a task.
   *
   * @throws IllegalStateException if the calling thread does not run a task
   */
  static void run(Runnable action) {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("stores can be scanned only by Spark tasks");
    }
    TaskCompletionListener listener = context -> action.run();
    task.addTaskCompletionListener(listener);
  }
}

package org.ddstore.spark.source;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** What is to be done when a task of Spark has ended, however it ends. */
final class TaskEnd {
  private TaskEnd() {}

  /**
   * By the thread of a task.
   *
   * @throws IllegalStateException if this is no task
   */
  static void run(Runnable action) {
    TaskContext task = TaskContext.get();
    if (task == null) {
      throw new IllegalStateException("stores are scanned by tasks of Spark only");
    }
    TaskCompletionListener listener = context -> action.run();
    task.addTaskCompletionListener(listener);
  }
}

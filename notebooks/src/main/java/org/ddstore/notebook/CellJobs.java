// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The running Spark jobs of the current cell: those of its threads, and those of pools of threads,
 * which do not belong to a cell. Thread-safe.
 */
final class CellJobs extends SparkListener {
  /** A property that Spark sets in jobs of streaming queries, which outlive cells. */
  private static final String STREAMING_QUERY = "sql.streaming.queryId";

  /** The property that holds the tags of a job. */
  private static final String TAGS = "spark.job.tags";

  /**
   * Makes Spark interrupt the tasks of a cancelled job, which would occupy their slots otherwise.
   */
  private static final String INTERRUPT_TASKS = "spark.job.interruptOnCancel";

  private static final String TAG = "ddstore-cell-";

  private final SparkContext context;
  private final Map<Integer, RunningJob> jobs = new LinkedHashMap<>();
  private int cells;

  CellJobs(SparkContext context) {
    this.context = context;
  }

  /** Begins a cell: the jobs of the calling thread, and of threads that it starts, belong to it. */
  synchronized void begin() {
    context.removeJobTag(tag());
    cells++;
    context.addJobTag(tag());
    context.setLocalProperty(INTERRUPT_TASKS, "true");
  }

  private String tag() {
    return TAG + cells;
  }

  /** Starts to listen to the application. */
  void register() {
    context.addSparkListener(this);
  }

  /** Returns the progress of the running jobs; empty if none runs. */
  synchronized Optional<JobProgress> progress() {
    if (jobs.isEmpty()) {
      return Optional.empty();
    }
    Collection<RunningJob> all = jobs.values();
    return Optional.of(
        new JobProgress(
            all.size(),
            all.stream().mapToInt(RunningJob::stagesDone).sum(),
            all.stream().mapToInt(RunningJob::stages).sum(),
            all.stream().mapToInt(RunningJob::tasksDone).sum(),
            all.stream().mapToInt(RunningJob::tasks).sum(),
            all.iterator().next().startedNs));
  }

  /**
   * Asks Spark to end the jobs, including those that this listener does not know yet. Does not
   * block.
   */
  synchronized void cancel() {
    context.cancelJobsWithTag(tag());
    jobs.keySet().forEach(job -> context.cancelJob(job, "the cell was interrupted"));
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart start) {
    if (isOfCell(start.properties())) {
      jobs.put(start.jobId(), new RunningJob(CollectionConverters.asJava(start.stageInfos())));
    }
  }

  private boolean isOfCell(Properties properties) {
    if (properties == null) {
      return true;
    }
    List<String> tags = List.of(properties.getProperty(TAGS, "").split(",", -1));
    boolean isOfOtherCell =
        !tags.contains(tag()) && tags.stream().anyMatch(each -> each.startsWith(TAG));
    return !isOfOtherCell && properties.getProperty(STREAMING_QUERY) == null;
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskInfo() != null && end.taskInfo().successful()) {
      jobs.values().forEach(job -> job.endTask(end.stageId()));
    }
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted end) {
    jobs.values().forEach(job -> job.endStage(end.stageInfo().stageId()));
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd end) {
    jobs.remove(end.jobId());
  }

  /** A job and the stages that it may run. */
  private static final class RunningJob {
    private final long startedNs = System.nanoTime();
    private final Map<Integer, Integer> tasks = new HashMap<>();
    private final Map<Integer, Integer> tasksDone = new HashMap<>();

    RunningJob(Iterable<StageInfo> stages) {
      stages.forEach(stage -> tasks.put(stage.stageId(), stage.numTasks()));
    }

    int stages() {
      return tasks.size();
    }

    int stagesDone() {
      return (int)
          tasks.entrySet().stream()
              .filter(stage -> tasksDone.getOrDefault(stage.getKey(), 0) >= stage.getValue())
              .count();
    }

    int tasks() {
      return tasks.values().stream().mapToInt(number -> number).sum();
    }

    int tasksDone() {
      return tasksDone.values().stream().mapToInt(number -> number).sum();
    }

    /** Counts a task; a stage that runs again does not count above its number of tasks. */
    void endTask(int stage) {
      if (tasks.containsKey(stage)) {
        int done = tasksDone.getOrDefault(stage, 0);
        tasksDone.put(stage, Math.min(done + 1, tasks.get(stage)));
      }
    }

    void endStage(int stage) {
      if (tasks.containsKey(stage)) {
        tasksDone.put(stage, tasks.get(stage));
      }
    }
  }
}

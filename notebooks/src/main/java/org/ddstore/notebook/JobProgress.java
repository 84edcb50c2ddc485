// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import org.ddstore.types.Plural;

/**
 * The progress of the jobs that run for a cell.
 *
 * @param jobs number of running jobs
 * @param stagesDone number of stages of these jobs that have ended
 * @param stages number of stages of these jobs, those included that Spark may skip
 * @param tasksDone number of tasks of these stages that have ended
 * @param tasks number of tasks of these stages
 * @param startedNs time at which the first of the jobs has started, {@link System#nanoTime()}
 */
public record JobProgress(
    int jobs, int stagesDone, int stages, int tasksDone, int tasks, long startedNs) {
  /** Returns one line, such as {@code 1 job, 1 of 2 stages, 14 of 200 tasks}. */
  public String text() {
    return "%s, %d of %d stages, %d of %d tasks"
        .formatted(Plural.of(jobs, "job"), stagesDone, stages, tasksDone, tasks);
  }
}

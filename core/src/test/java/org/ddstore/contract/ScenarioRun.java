// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One run of a scenario by processes. All that they say is heard here, one after the other: their
 * part in meetings, what they want done, and what came of them.
 */
final class ScenarioRun {
  private static final long PATIENCE_S = 150;

  private final List<WorkerProcess> workers;
  private final BlockingQueue<WorkerProcess.Said> said;
  private final Map<String, ProcessRanks.Act> acts;
  private final int lost;
  private final MeetingTable meetings;
  private final boolean[] through;
  private int playing;
  private final List<AssertionError> failures = new ArrayList<>();

  /**
   * @param workers by rank, with their tasks
   * @param lost the rank that is to be killed, or -1
   */
  ScenarioRun(
      List<WorkerProcess> workers,
      BlockingQueue<WorkerProcess.Said> said,
      Map<String, ProcessRanks.Act> acts,
      int lost) {
    this.workers = workers;
    this.said = said;
    this.acts = acts;
    this.lost = lost;
    this.meetings = new MeetingTable(workers);
    this.through = new boolean[workers.size()];
    this.playing = workers.size();
  }

  /**
   * Returns when all ranks are through; whatever happens, no process is left in the scenario.
   *
   * @throws AssertionError if ranks failed, with what they said
   */
  void play() throws InterruptedException {
    try {
      while (playing > 0) {
        WorkerProcess.Said next = said.poll(PATIENCE_S, TimeUnit.SECONDS);
        if (next == null) {
          failSilentRanks();
        } else {
          int rank = workers.indexOf(next.worker());
          if (rank >= 0 && !through[rank]) { // an earlier one may have ended just now
            hear(rank, next.line().split(" ", 2));
            meetings.settle(playing < workers.size());
          }
        }
      }
    } catch (InterruptedException e) {
      failures.forEach(e::addSuppressed); // most likely why it takes too long
      throw e;
    } finally {
      for (int rank = 0; rank < through.length; rank++) {
        if (!through[rank]) {
          workers.get(rank).kill();
        }
      }
    }
    if (!failures.isEmpty()) {
      AssertionError first = failures.get(0);
      failures.stream().skip(1).forEach(first::addSuppressed);
      throw first;
    }
  }

  private void failSilentRanks() throws InterruptedException {
    for (int rank = 0; rank < through.length; rank++) {
      if (!through[rank]) {
        workers.get(rank).kill();
        fail(rank, "nothing was heard of any rank for " + PATIENCE_S + " s");
      }
    }
  }

  private void hear(int rank, String[] words) throws InterruptedException {
    switch (words[0]) {
      case PipeMeeting.TELL -> meetings.tell(rank, words[1]);
      case PipeMeeting.ACT -> act(workers.get(rank), text(words[1]));
      case RankWorker.OK -> {
        if (rank == lost) {
          fail(rank, "was to be killed and lives");
        } else {
          leave(rank);
        }
      }
      case RankWorker.FAILED -> fail(rank, text(words[1]));
      case WorkerProcess.Said.ENDED -> {
        int status = workers.get(rank).awaitEnd();
        if (rank == lost) {
          leave(rank);
        } else {
          fail(rank, "its process ended with status " + status);
        }
      }
      default -> {
        workers.get(rank).kill();
        fail(rank, "said " + String.join(" ", words));
      }
    }
  }

  private void fail(int rank, String how) {
    leave(rank);
    failures.add(
        new AssertionError(
            "rank %d of %d: %s%n%s"
                .formatted(rank, workers.size(), how, workers.get(rank).tailOfLog())));
  }

  private void leave(int rank) {
    through[rank] = true;
    playing--;
  }

  private void act(WorkerProcess worker, String name) throws InterruptedException {
    ProcessRanks.Act act = acts.get(name);
    if (act == null) {
      worker.refuse("\"%s\" is not among %s".formatted(name, acts.keySet()));
      return;
    }
    try {
      act.run();
      worker.send(PipeMeeting.DONE + " ");
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception | AssertionError e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      worker.refuse("\"%s\" failed: %s".formatted(name, trace));
    }
  }

  private static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}

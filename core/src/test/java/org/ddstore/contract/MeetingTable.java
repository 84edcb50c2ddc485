// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.util.Arrays;
import java.util.List;

/** The test's side of the ranks' meetings: one takes place when all have come. */
final class MeetingTable {
  private final List<WorkerProcess> workers;
  private final String[] told;

  MeetingTable(List<WorkerProcess> workers) {
    this.workers = workers;
    this.told = new String[workers.size()];
  }

  void tell(int rank, String word) {
    told[rank] = word;
  }

  /**
   * Answers those who wait, if all do or never will.
   *
   * @param incomplete whether a rank is through, so that no meeting can take place any more
   */
  void settle(boolean incomplete) {
    boolean all = Arrays.stream(told).noneMatch(word -> word == null);
    if (all) {
      String answer = PipeMeeting.ALL + " " + String.join(",", told);
      workers.forEach(worker -> worker.send(answer));
    } else if (incomplete) {
      for (int rank = 0; rank < told.length; rank++) {
        if (told[rank] != null) {
          workers.get(rank).refuse("a rank has come to its end and does not meet the others");
        }
      }
    }
    if (all || incomplete) {
      Arrays.fill(told, null);
    }
  }
}

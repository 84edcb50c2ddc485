// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.peers;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is measured.
 *
 * @param rows number of rows, dense and sparse
 * @param slowRows rows for peers that convert or read one row at a time
 * @param rowBytes size of a dense row, a multiple of 4
 * @param batch rows per batch
 * @param rounds measured rounds after one that warms up
 * @param seconds seconds of a turn, in whole epochs
 * @param cases what to measure
 * @param peers programs of this checkout; those that are not installed are left out
 * @param foreign commands of other programs by their name
 * @param interpreter Python of programs without an environment of their own
 * @param patience maximum time of a reply
 */
public record PeerPlan(
    int rows,
    int slowRows,
    int rowBytes,
    int batch,
    int rounds,
    double seconds,
    Set<PeerCase> cases,
    List<KnownPeer> peers,
    Map<String, String> foreign,
    String interpreter,
    Duration patience) {
  static final int[] WORKERS = {1, 8};

  private static final long SEED = 7;

  /** Returns a plan that fits five minutes on two processors. */
  public static PeerPlan quick() {
    return new PeerPlan(
        200_000,
        20_000,
        256,
        1024,
        3,
        0.3,
        Set.of(PeerCase.values()),
        List.of(KnownPeer.values()),
        Map.of(),
        KnownPeer.defaultInterpreter(),
        Duration.ofMinutes(2));
  }

  /** Returns the number of steps of a run. */
  int steps() {
    int turns = 0;
    for (PeerCase each : cases) {
      turns += each == PeerCase.MEMORY ? WORKERS.length : rounds + 1;
    }
    return peers.size() + foreign.size() + turns;
  }

  PeerTask task(String npy, String csr) {
    return new PeerTask(
        rows, Math.min(rows, slowRows), rowBytes, batch, SEED, npy, csr, null, null, null);
  }
}

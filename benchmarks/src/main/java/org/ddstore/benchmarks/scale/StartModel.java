// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

/**
 * A model of the time from the submission of a barrier stage to the first batch, without the load
 * of rows and without Spark's own scheduling. It adds the parts as if none of them overlapped:
 *
 * <pre>
 *   launch, start messages, answers, block locations: processor time of the driver
 *                                              + bytes / link
 *   broadcast of the messages: as if every executor fetched it from the driver
 *   block locations: twice, for the broadcast of the task, too
 *   connections: those of one process, one after the other
 *   rounds of collectives: processor time of the lanes, and of the messages on the network;
 *                          + a latency + bytes / link
 *   the rest: processor time of one rank
 * </pre>
 *
 * @param gigabits speed of the link of the driver and of each executor, in 10^9 bits per second
 * @param latencySeconds time from a send to its reception
 * @param connectionSeconds processor time of both ends of a connection
 * @param messageSeconds processor time of both ends of a message of a collective
 */
record StartModel(
    double gigabits, double latencySeconds, double connectionSeconds, double messageSeconds) {
  static final String START = "start to the first batch";
  static final String CONNECTIONS = "process: connections";
  static final String ROUNDS = "process: collective rounds of a start";

  /** Largest start that the limit of ranks permits, in seconds. */
  static final double MAX_SECONDS = 60;

  /** Collectives of a start: connect, open, add, attach and the one at the end. */
  private static final int COLLECTIVES = 5;

  /** Broadcasts of a start: the task of the stage and the start messages. */
  private static final int BROADCASTS = 2;

  /** Adds the simulated parts and their sum to the measured ones. */
  void complete(SimulatedCluster cluster, Parts parts) {
    double driver =
        withLink(parts, DriverStart.LAUNCH)
            + withLink(parts, DriverStart.QUESTIONS)
            + withLink(parts, DriverStart.ANSWERS)
            + BROADCASTS * withLink(parts, DriverStart.LOCATIONS)
            + parts.get(DriverStart.CATALOG, Parts.SECONDS)
            + cluster.processes() * link(parts.get(DriverStart.CATALOG, Parts.BYTES));
    parts.simulate("driver: sum with its link", Parts.SECONDS, driver);
    double connections = (cluster.processes() - 1) * connectionSeconds / 2;
    parts.simulate(CONNECTIONS, Parts.SECONDS, connections);
    double perRound =
        parts.get(LaneReplay.ROUND, Parts.SECONDS)
            + cluster.ranks() * messageSeconds
            + latencySeconds
            + link(parts.get(LaneReplay.ROUND_BYTES, Parts.BYTES));
    double rounds = parts.get(LaneReplay.CONNECT, Parts.SECONDS) + COLLECTIVES * perRound;
    parts.simulate(ROUNDS, Parts.SECONDS, rounds);
    double rank =
        parts.get(ProcessStart.MESSAGES, Parts.SECONDS)
            + parts.get(ProcessStart.CATALOG, Parts.SECONDS)
            + parts.get(ProcessStart.PLACEMENT, Parts.SECONDS)
            + parts.get(ProcessStart.COPIES, Parts.SECONDS)
            + parts.get(ProcessStart.SAMPLER, Parts.SECONDS)
            + parts.get(ProcessStart.BATCH, Parts.SECONDS)
            + 2 * latencySeconds;
    parts.simulate(START, Parts.SECONDS, driver + connections + rounds + rank);
  }

  private double withLink(Parts parts, String part) {
    return parts.get(part, Parts.SECONDS) + link(parts.get(part, Parts.BYTES));
  }

  private double link(double bytes) {
    return bytes * Byte.SIZE / (gigabits * 1e9);
  }
}

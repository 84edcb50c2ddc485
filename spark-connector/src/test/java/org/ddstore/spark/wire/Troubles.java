// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.ddstore.DDStore;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.RankBackend;
import org.ddstore.contract.RankEnv;
import org.ddstore.contract.Stopped;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.Host;
import org.ddstore.hosts.Link;

/**
 * Ranks on two hosts that can ask by {@link org.ddstore.contract.Meeting#act} for what goes wrong
 * with rank 1 or with the link: the names of acts are the constants here.
 */
public final class Troubles implements AutoCloseable {
  /** The rank on the other host than rank 0. */
  public static final int OTHER = 1;

  public static final String KILL = "kill";
  public static final String STOP = "stop";
  public static final String PROCEED = "proceed";

  /** Loses what is sent. */
  public static final String DROP = "drop";

  /** Tells the sender that there is no route. */
  public static final String DOWN = "down";

  /** 4 MB/s. */
  public static final String SLOW = "slow";

  /** 20 kB/s. */
  public static final String CRAWL = "crawl";

  /** 100 ms in each direction; see {@link #missingForDelay}. */
  public static final String DELAY = "delay";

  public static final String RESTORE = "restore";

  /** Waits until several packets were sent again. */
  public static final String RESTORE_LATER = "restore later";

  /** The work of rank 0 while rank 1 waits. */
  @FunctionalInterface
  public interface Part extends Serializable {
    void run(RankEnv rank, DDStore store) throws Exception;
  }

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long RETRIED_BYTES = 1000;

  private final TwoHostRanks ranks;
  private Stopped stopped;

  /**
   * @param backend by the root of its files
   */
  public Troubles(Function<Path, RankBackend> backend) throws IOException {
    ranks = TwoHostRanks.alternating(backend.apply(Path.of("/dev/shm/ddstore-faults")));
    ProcessRanks processes = ranks.processes();
    Link link = ranks.hosts().link();
    processes.offer(KILL, () -> processes.process(OTHER).destroyForcibly());
    processes.offer(STOP, () -> stopped = Stopped.stop(processes.process(OTHER)));
    processes.offer(PROCEED, () -> stopped.proceed());
    processes.offer(DROP, link::drop);
    processes.offer(DOWN, link::down);
    processes.offer(SLOW, () -> link.slow(4_000_000));
    processes.offer(CRAWL, () -> link.slow(20_000));
    processes.offer(DELAY, () -> link.delay(Duration.ofMillis(100)));
    processes.offer(RESTORE, link::restore);
    processes.offer(RESTORE_LATER, this::restoreLater);
  }

  private void restoreLater() throws IOException {
    long before = ranks.hosts().sentBytes();
    await("packets that are sent again")
        .atMost(PATIENCE)
        .until(() -> ranks.hosts().sentBytes() > before + RETRIED_BYTES);
    ranks.hosts().link().restore();
  }

  /** Returns the reason why {@link #DELAY} is unavailable; empty if it is available. */
  public Optional<String> missingForDelay() throws IOException {
    return ranks.hosts().link().missingForDelay();
  }

  public TwoHostRanks ranks() {
    return ranks;
  }

  /**
   * Runs a part on rank 0 of a store of numbered rows, while rank 1 serves its rows.
   *
   * @param readTimeout maximum time of a read
   */
  public void read(Duration readTimeout, Part part) throws Exception {
    ranks.run(2, PATIENCE, rank -> read(rank, readTimeout, part));
  }

  private static void read(RankEnv rank, Duration readTimeout, Part part) throws Exception {
    try (DDStore store = rank.open(rank.options().readTimeout(readTimeout))) {
      NumberedRows.add(store);
      if (rank.rank() == 0) {
        part.run(rank, store);
      }
      rank.meet();
    }
  }

  /** The host of {@link #OTHER}. */
  public Host otherHost() {
    return ranks.hosts().second();
  }

  /** Ends what a test may have left. */
  public void heal() throws IOException {
    if (stopped != null) {
      stopped.close();
    }
    ranks.hosts().link().restore();
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}

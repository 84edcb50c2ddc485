// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.transport.Transport;
import org.ddstore.types.ReadPath;

/** Ranks as threads of this JVM. */
public final class ThreadRanks implements RankHarness {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final StoreOptions options;
  private final GroupFactory groups;
  private final TransportFactory transports;
  private final Path root;
  private final Leaks leaks;

  /**
   * @param root of the stores' files, made for this harness, which deletes it
   */
  public ThreadRanks(StoreOptions options, GroupFactory groups, Path root) {
    this(options, groups, TransportFactory.NONE, root);
  }

  public ThreadRanks(
      StoreOptions options, GroupFactory groups, TransportFactory transports, Path root) {
    this.options = options;
    this.groups = groups;
    this.transports = transports;
    this.root = root;
    this.leaks = new Leaks(root);
  }

  @Override
  public void run(int ranks, Duration timeout, Scenario scenario) throws Exception {
    GroupFactory.Group group = groups.create(ranks, timeout);
    List<Communicator> control = LocalGroup.create(ranks, PATIENCE);
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      int r = rank;
      Thread thread =
          new Thread(
              () -> {
                try (Communicator test = control.get(r);
                    TransportFactory.Lease lease = transports.join(r);
                    RankEnv env = enter(group.join(r), test, lease.transport())) {
                  scenario.run(env);
                  env.meet(); // no rank leaves the group before all have finished
                } catch (Throwable e) {
                  failures.add(new AssertionError("rank %d of %d".formatted(r, ranks), e));
                }
              },
              "contract-rank-" + rank);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      TimeUnit.MILLISECONDS.timedJoin(thread, PATIENCE.toMillis());
      if (thread.isAlive()) {
        AssertionError stuck = new AssertionError(thread.getName() + " does not end");
        stuck.setStackTrace(thread.getStackTrace());
        failures.add(stuck);
      }
    }
    throwFirst(failures);
    leaks.assertNothingHeld();
    leaks.assertNoFiles();
  }

  private RankEnv enter(Communicator group, Communicator control, Transport transport) {
    ReadPath path = options.shortcut() ? ReadPath.OWN_PROCESS : ReadPath.REMOTE;
    return new RankEnv(new ThreadMeeting(control), group, transport, options, owner -> path);
  }

  private static void throwFirst(Queue<Throwable> failures) throws Exception {
    if (!failures.isEmpty()) {
      AssertionError first = (AssertionError) failures.remove();
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  @Override
  public void close() throws IOException {
    try {
      assertThat(Thread.getAllStackTraces().keySet())
          .as("threads of ranks")
          .noneMatch(thread -> thread.getName().startsWith("contract-rank-"));
      leaks.assertNoFiles();
    } finally {
      TestRoots.delete(root);
    }
  }
}

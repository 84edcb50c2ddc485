package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.ddstore.Backing;

/** Ranks as processes of this host, which live from scenario to scenario. */
public final class ProcessRanks implements RankHarness {
  private static final int NONE = -1;

  private final Backing backing;
  private final Path root;
  private final Path meetings;
  private final Leaks leaks;
  private final List<WorkerProcess> workers = new ArrayList<>();
  private int runs;

  /**
   * @param root of the stores' files, made for this harness, which deletes it
   */
  public ProcessRanks(Backing backing, Path root) throws IOException {
    this.backing = backing;
    this.root = root;
    this.meetings = TestRoots.sharedMemory();
    this.leaks = new Leaks(root);
  }

  @Override
  public void run(int ranks, Duration timeout, Scenario scenario) throws Exception {
    run(ranks, timeout, NONE, scenario);
  }

  /** As {@link #run}; the process of rank {@code lost} is to be killed by the scenario. */
  public void runLosing(int lost, int ranks, Duration timeout, Scenario scenario) throws Exception {
    run(ranks, timeout, lost, scenario);
  }

  private void run(int ranks, Duration timeout, int lost, Scenario scenario) throws Exception {
    Path meeting = Files.createDirectory(meetings.resolve("run-" + runs++));
    String encoded = encode(scenario);
    while (workers.size() < ranks) {
      workers.add(WorkerProcess.start(backing, root));
    }
    for (int rank = 0; rank < ranks; rank++) {
      workers
          .get(rank)
          .send(new RankWorker.Task(rank, ranks, timeout, lost != NONE, meeting, encoded));
    }
    try {
      List<AssertionError> failures = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        if (rank == lost) {
          workers.get(rank).awaitKill();
        } else {
          workers.get(rank).awaitOk("rank %d of %d".formatted(rank, ranks), failures);
        }
      }
      throwFirst(failures);
      if (lost == NONE) {
        leaks.assertNoFiles();
      }
    } finally {
      for (WorkerProcess worker : List.copyOf(workers)) {
        if (worker.hasEnded()) {
          workers.remove(worker);
          worker.close();
        }
      }
      TestRoots.delete(meeting);
    }
  }

  private static void throwFirst(List<AssertionError> failures) {
    if (!failures.isEmpty()) {
      AssertionError first = failures.get(0);
      failures.stream().skip(1).forEach(first::addSuppressed);
      throw first;
    }
  }

  private static String encode(Scenario scenario) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(scenario);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  @Override
  public void close() throws IOException {
    try {
      for (WorkerProcess worker : workers) {
        worker.close();
      }
      leaks.assertNoFiles();
      assertThat(meetings).isEmptyDirectory();
    } finally {
      TestRoots.delete(meetings);
      TestRoots.delete(root);
    }
  }
}

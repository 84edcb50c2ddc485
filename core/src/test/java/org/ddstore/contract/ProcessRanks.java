// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.ddstore.types.Backing;

/** Ranks as processes, which live from scenario to scenario. */
public final class ProcessRanks implements RankHarness {
  private static final int NONE = -1;

  private final RankBackend backend;
  private final List<Place> places;
  private final List<Path> directories = new ArrayList<>();
  private final Map<String, Act> acts = new ConcurrentHashMap<>();
  private final List<WorkerProcess> workers = new ArrayList<>();
  private final BlockingQueue<WorkerProcess.Said> said = new LinkedBlockingQueue<>();
  private List<String> compilerOptions = List.of();

  @FunctionalInterface
  public interface Act {
    void run() throws Exception;
  }

  /**
   * Ranks of this host that map each other's files.
   *
   * @param root of the stores' files, made for this harness, which deletes it
   */
  public ProcessRanks(Backing backing, Path root) throws IOException {
    this(
        new FilesBackend(backing, root.toString(), TestRoots.sharedMemory().toString()),
        List.of(Place.HERE));
  }

  /**
   * @param places of ranks 0, 1, .., and from the start again; may repeat
   */
  public ProcessRanks(RankBackend backend, List<Place> places) throws IOException {
    this.backend = backend;
    this.places = List.copyOf(places);
    for (Place place : places.stream().distinct().toList()) {
      for (String directory : backend.directories()) {
        directories.add(Files.createDirectories(place.path(directory)));
      }
    }
  }

  public void offer(String name, Act act) {
    acts.put(name, act);
  }

  public ProcessHandle process(int rank) {
    return workers.get(rank).handle();
  }

  @Override
  public void optimiseCode() {
    compilerOptions = ChildJvm.OPTIMISED;
  }

  @Override
  public void run(int ranks, Duration timeout, Scenario scenario) throws Exception {
    run(ranks, timeout, NONE, scenario);
    assertNoFiles();
  }

  public void runLosing(int lost, int ranks, Duration timeout, Scenario scenario) throws Exception {
    run(ranks, timeout, lost, scenario);
  }

  private void run(int ranks, Duration timeout, int lost, Scenario scenario) throws Exception {
    String encoded = Base64Object.encode(scenario);
    startWorkers(ranks);
    List<WorkerProcess> players = List.copyOf(workers.subList(0, ranks));
    List<String> names = players.stream().map(worker -> worker.place().name()).toList();
    for (int rank = 0; rank < ranks; rank++) {
      WorkerProcess worker = players.get(rank);
      String address = worker.place().address();
      worker.send(new RankWorker.Task(rank, names, address, timeout, lost != NONE, encoded).line());
    }
    new ScenarioRun(players, said, acts, lost).play();
  }

  private void startWorkers(int ranks) throws IOException {
    for (int rank = 0; rank < ranks; rank++) {
      if (rank < workers.size() && !workers.get(rank).hasEnded()) {
        continue;
      }
      WorkerProcess fresh =
          WorkerProcess.start(backend, compilerOptions, places.get(rank % places.size()), said);
      if (rank == workers.size()) {
        workers.add(fresh);
      } else {
        workers.set(rank, fresh).close();
      }
    }
  }

  private void assertNoFiles() throws IOException {
    for (Path directory : directories) {
      new Leaks(directory).assertNoFiles();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      for (WorkerProcess worker : workers) {
        worker.close();
      }
      assertNoFiles();
    } finally {
      for (Path directory : directories) {
        TestRoots.delete(directory);
      }
    }
  }
}

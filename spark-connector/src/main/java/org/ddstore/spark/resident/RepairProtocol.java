// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.ddstore.spark.resident.ResidentLayout.Place;

/**
 * The driver's decisions in one repair. First the shards of executors that are being decommissioned
 * are copied to others, without a wait for replacements, those without another copy first. Then
 * lost shards are restored: copied from another replica group, else loaded from their source. Each
 * job restores as many shards as there are slots. After the last job, and after a job that failed
 * because executors ended, the driver looks again.
 *
 * <p>A state machine like {@link LoadProtocol}. Not thread-safe.
 */
final class RepairProtocol {
  /** What the driver does next. */
  enum Step {
    /** Look for lost and leaving executors; then {@link #looked}. */
    LOOK,
    /** Wait for executors that replace lost ones; then {@link #awaited}. */
    AWAIT,
    /** Copy the shards of {@link #places}; then {@link #restored} or {@link #failed}. */
    COPY,
    /**
     * Load the shards of {@link #places}, of one part; then {@link #restored} or {@link #failed}.
     */
    LOAD,
    /** Nothing: no shard is lost or about to be. */
    DONE,
    /** Nothing: executors ended in each round. */
    FAILED
  }

  private record Job(Step step, List<Place> places) {}

  private final int maxRounds;
  private final Deque<Job> jobs = new ArrayDeque<>();
  private int rounds;
  private ResidentLayout start;
  private ResidentLayout current;
  private Step step = Step.LOOK;

  /**
   * @param maxRounds number of times that the driver looks and begins anew
   */
  RepairProtocol(int maxRounds) {
    this.maxRounds = maxRounds;
  }

  Step step() {
    return step;
  }

  /** Returns the number of rounds that have begun. */
  int rounds() {
    return rounds;
  }

  /**
   * Returns the layout at the start of the round. Its shards are the originals of restored ones.
   */
  ResidentLayout start() {
    return start;
  }

  /** Returns the layout after the last job of the round. */
  ResidentLayout current() {
    return current;
  }

  /** Returns the shards of the next job. */
  List<Place> places() {
    return jobs.element().places();
  }

  /**
   * The driver has looked.
   *
   * @param leaving executors that are being decommissioned
   * @param slots number of tasks that can run now; counts only if executors leave
   */
  void looked(ResidentLayout now, Set<String> leaving, int slots) {
    start = now;
    current = now;
    jobs.clear();
    if (now.lost().isEmpty() && leaving.isEmpty()) {
      step = Step.DONE;
      return;
    }
    if (rounds == maxRounds) {
      step = Step.FAILED;
      return;
    }
    rounds++;
    ResidentLayout without = now.without(leaving);
    List<Place> urgentFirst = new ArrayList<>(now.placesOn(leaving));
    urgentFirst.sort(
        Comparator.comparing(without::hasCopy)
            .thenComparingInt(Place::part)
            .thenComparingInt(Place::rank));
    add(Step.COPY, urgentFirst, slots);
    if (!now.lost().isEmpty()) {
      jobs.add(new Job(Step.AWAIT, List.of()));
    }
    next();
  }

  /**
   * Executors that replace lost ones take tasks, or will not come.
   *
   * @param slots number of tasks that can run now
   */
  void awaited(int slots) {
    jobs.remove();
    for (int part = 0; part < start.parts(); part++) {
      List<Place> copied = new ArrayList<>();
      List<Place> loaded = new ArrayList<>();
      for (int rank = 0; rank < start.groups().ranks(); rank++) {
        Place place = new Place(part, rank);
        if (start.lost().contains(place)) {
          (start.hasCopy(place) ? copied : loaded).add(place);
        }
      }
      add(Step.COPY, copied, slots);
      add(Step.LOAD, loaded, slots);
    }
    next();
  }

  private void add(Step what, List<Place> places, int slots) {
    int length = Math.max(1, slots);
    for (int from = 0; from < places.size(); from += length) {
      jobs.add(new Job(what, places.subList(from, Math.min(places.size(), from + length))));
    }
  }

  /** The shards of the job are published, in a new layout. */
  void restored(ResidentLayout published) {
    current = published;
    jobs.remove();
    next();
  }

  /** The job has failed because executors ended. */
  void failed() {
    step = Step.LOOK;
  }

  private void next() {
    step = jobs.isEmpty() ? Step.LOOK : jobs.element().step();
  }

  /**
   * Returns the executor that each shard of the next job should be on; empty if any will do.
   * Appended rows go to the executor of the rank's first shard, others to executors without a copy
   * of them and with the fewest shards.
   *
   * @param executors ids of the executors that take tasks
   */
  List<String> homes(Collection<String> executors) {
    Map<String, Integer> load = new TreeMap<>();
    executors.forEach(id -> load.put(id, 0));
    current.shards().forEach(shard -> load.computeIfPresent(shard.executorId(), (id, n) -> n + 1));
    List<String> homes = new ArrayList<>();
    Map<Integer, String> homeOfRank = new HashMap<>(); // if the first shard is restored, too
    for (Place place : places()) {
      Set<String> holders = current.holders(place);
      String chosen =
          load.entrySet().stream()
              .filter(executor -> !holders.contains(executor.getKey()))
              .min(Map.Entry.comparingByValue())
              .map(Map.Entry::getKey)
              .orElse("");
      String home =
          place.part() == 0
              ? chosen
              : homeOfRank.getOrDefault(place.rank(), current.home(place.rank()).executorId());
      if (place.part() == 0) {
        homeOfRank.put(place.rank(), home);
      }
      load.computeIfPresent(home, (id, n) -> n + 1);
      homes.add(load.containsKey(home) ? home : "");
    }
    return homes;
  }
}

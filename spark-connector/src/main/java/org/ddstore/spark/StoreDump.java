// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.cluster.Interrupts;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.dump.DumpDirectory;
import org.ddstore.spark.dump.DumpTarget;
import org.ddstore.spark.dump.DumpedFile;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.DumpMode;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.spark.types.StoreJobException;

/** A dump of a resident store: a run in which every rank writes a part of the rows. */
final class StoreDump {
  /** Number of parts of a store from which on ranks write equal ranges instead of their shards. */
  private static final int MANY_PARTS = 16;

  private final ResidentStore store;
  private final ResidentRunner runner;

  private StoreDump(ResidentStore store, ResidentRunner runner) {
    this.store = store;
    this.runner = runner;
  }

  static StoreDump of(ResidentStore store, ResidentRunner runner) {
    return new StoreDump(store, runner);
  }

  record Range(long firstRow, long rows) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  /**
   * The task of the ranks.
   *
   * @param ranges rows that each rank writes, by rank; a file for each range
   */
  private record Task(DumpTarget target, List<List<Range>> ranges)
      implements RankTask<List<DumpedFile>> {
    private static final long serialVersionUID = 1L;

    @Override
    public List<DumpedFile> run(RankContext context) {
      List<DumpedFile> files = new ArrayList<>();
      for (Range range : ranges.get(context.rank())) {
        String name =
            "rank-%05d-attempt-%d-part-%05d"
                .formatted(context.rank(), context.attempt(), files.size());
        files.add(target.write(context.rows(), range.firstRow(), range.rows(), name));
      }
      return files;
    }
  }

  DumpInfo to(String path, DumpMode mode) {
    DumpDirectory directory = DumpDirectory.of(store.origin().session(), path);
    store.places().checkLive();
    DumpTarget target = DumpTarget.create(directory, mode);
    try {
      target.checkUnneeded(restoredStores());
      AtomicReference<ResidentLayout> dumped = new AtomicReference<>();
      List<DumpedFile> files = new ArrayList<>();
      runner
          .run(
              "dump to " + path,
              layout -> {
                dumped.set(layout);
                return new Task(target, ranges(layout, MANY_PARTS));
              },
              List.of())
          .forEach(files::addAll);
      target.checkUnneeded(restoredStores()); // of stores that were restored meanwhile
      return target.publish(
          new DumpTarget.Description(
              store.name(),
              dumped.get().digest(),
              store.schema(),
              store.sourceSchema(),
              store.columns(),
              store.origin().ingest()),
          files);
    } catch (Throwable e) { // Spark throws InterruptedException undeclared
      target.discard();
      throw dumpFailure(Interrupts.beforeCommit(e, "dump of \"%s\"".formatted(store.name())));
    }
  }

  /** Returns the names of the live stores that were restored, by the folder of their dump. */
  private Map<String, String> restoredStores() {
    Map<String, String> stores = new HashMap<>();
    for (ResidentStore each : ResidentStores.of(store.origin().session().sparkContext()).list()) {
      each.origin().dump().ifPresent(dump -> stores.put(dump.folder(), each.name()));
    }
    return stores;
  }

  /** Returns the failure of a dump that ended a job, else the failure itself. */
  static RuntimeException dumpFailure(RuntimeException failure) {
    return failure instanceof StoreJobException && failure.getCause() instanceof DumpException cause
        ? cause
        : failure;
  }

  /**
   * Returns the rows that each rank writes: of its own shards, which the copies in other groups
   * share, or of the whole store if it has many small shards.
   *
   * @param manyParts number of parts from which on the store has many small shards
   */
  static List<List<Range>> ranges(ResidentLayout layout, int manyParts) {
    ReplicaGroups groups = layout.groups();
    List<List<Range>> ranges = new ArrayList<>();
    for (int rank = 0; rank < groups.ranks(); rank++) {
      ranges.add(new ArrayList<>());
    }
    if (layout.parts() >= manyParts) {
      for (int rank = 0; rank < groups.ranks(); rank++) {
        add(ranges.get(rank), 0, layout.rows(), rank, groups.ranks());
      }
    } else {
      for (ResidentShard shard : layout.shards()) {
        int group = groups.groupOf(shard.rank());
        add(ranges.get(shard.rank()), shard.firstRow(), shard.rows(), group, groups.groups());
      }
    }
    return ranges;
  }

  /** Adds one of several equal pieces of rows, unless it is empty. */
  private static void add(List<Range> to, long firstRow, long rows, int piece, int pieces) {
    long start = ExtentMap.balancedStart(rows, piece, pieces);
    long end = ExtentMap.balancedStart(rows, piece + 1, pieces);
    if (start < end) {
      to.add(new Range(firstRow + start, end - start));
    }
  }
}

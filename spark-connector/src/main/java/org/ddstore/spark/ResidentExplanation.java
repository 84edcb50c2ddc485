// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentReads;
import org.ddstore.spark.types.ExecutorStatistics;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Plural;

/** A human-readable description of a resident store. */
final class ResidentExplanation {
  private ResidentExplanation() {}

  /** Returns one line, such as {@code ResidentStore[train: 10 rows, 2 ranks, 1.00 KiB, ..]}. */
  static String line(String name, ResidentLayout layout, boolean isDropped) {
    String lost =
        layout.lost().isEmpty()
            ? ""
            : ", %s lost".formatted(Plural.of(layout.lost().size(), "shard"));
    return "ResidentStore[%s: %s, %s, %s, %s%s]"
        .formatted(
            name,
            Plural.of(layout.rows(), "row"),
            Plural.of(layout.groups().ranks(), "rank"),
            ByteSize.format(layout.bytes()),
            layout.schema(),
            isDropped ? ", dropped" : lost);
  }

  static String of(
      ResidentStore store,
      ResidentLayout layout,
      List<ExecutorStatistics> holdings,
      ResidentReads reads,
      List<String> warnings) {
    StringBuilder text = new StringBuilder();
    ReplicaGroups groups = layout.groups();
    text.append(
        "\"%s\": %s of %s%n"
            .formatted(store.name(), Plural.of(layout.rows(), "row"), layout.schema()));
    text.append(
        "%,d bytes per copy, %s of %s, loaded in %s%n"
            .formatted(
                layout.bytes(),
                Plural.of(groups.groups(), "copy", "copies"),
                Plural.of(groups.width(), "rank"),
                Plural.of(layout.parts(), "part")));
    text.append("transport: %s%n".formatted(layout.transport()));
    for (ExecutorStatistics holding : holdings) {
      if (holding.ranks().isEmpty()) {
        continue;
      }
      text.append(
          "executor %s (%s): ranks %s, %s in %s, %,d bytes; %s served%n"
              .formatted(
                  holding.executorId(),
                  holding.host(),
                  holding.ranks(),
                  Plural.of(holding.rows(), "row"),
                  Plural.of(holding.shards(), "shard"),
                  holding.bytes(),
                  Plural.of(holding.servedRequests(), "request")));
    }
    for (ResidentShard shard : layout.shards()) {
      if (shard.isLost()) {
        text.append(
            "lost: %,d rows of rank %d from row %d on, with executor %s%n"
                .formatted(shard.rows(), shard.rank(), shard.firstRow(), shard.executorId()));
      }
    }
    reads.misplaced().forEach(rank -> text.append("last run: %s%n".formatted(rank)));
    warnings.forEach(warning -> text.append("warning: %s%n".formatted(warning)));
    return text.toString();
  }
}

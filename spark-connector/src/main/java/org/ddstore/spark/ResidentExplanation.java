// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.List;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.resident.ResidentLayout;
import org.ddstore.spark.resident.ResidentReads;
import org.ddstore.spark.types.ExecutorHolding;
import org.ddstore.spark.types.ResidentShard;

/** A human-readable description of a resident store. */
final class ResidentExplanation {
  private ResidentExplanation() {}

  /** Returns one line, such as {@code ResidentStore[train: 10 rows, 2 ranks, 1.00 KiB, ..]}. */
  static String line(String name, ResidentLayout layout, boolean isDropped) {
    String lost = layout.lost().isEmpty() ? "" : ", %d shards lost".formatted(layout.lost().size());
    return "ResidentStore[%s: %,d rows, %d ranks, %s, %s%s]"
        .formatted(
            name,
            layout.rows(),
            layout.groups().ranks(),
            ByteSize.format(layout.bytes()),
            layout.schema(),
            isDropped ? ", dropped" : lost);
  }

  static String of(
      ResidentStore store,
      ResidentLayout layout,
      List<ExecutorHolding> holdings,
      ResidentReads reads,
      List<String> warnings) {
    StringBuilder text = new StringBuilder();
    ReplicaGroups groups = layout.groups();
    text.append("\"%s\": %,d rows of %s%n".formatted(store.name(), layout.rows(), layout.schema()));
    text.append(
        "%,d bytes per copy, %d %s of %d ranks, loaded in %d %s%n"
            .formatted(
                layout.bytes(),
                groups.groups(),
                groups.groups() == 1 ? "copy" : "copies",
                groups.width(),
                layout.parts(),
                layout.parts() == 1 ? "part" : "parts"));
    text.append("transport: %s%n".formatted(layout.transport()));
    for (ExecutorHolding holding : holdings) {
      text.append(
          "executor %s (%s): ranks %s, %,d rows in %d shards, %,d bytes; %,d requests served%n"
              .formatted(
                  holding.executorId(),
                  holding.host(),
                  holding.ranks(),
                  holding.rows(),
                  holding.shards(),
                  holding.bytes(),
                  holding.servedRequests()));
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

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.DDStore;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.spark.config.ReplicaGroups;
import org.ddstore.spark.config.Setting;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;

/**
 * The copy of the rows of group 0 to all replica groups: rank i of a group copies the shard of rank
 * i of group 0 by one-sided reads.
 *
 * @param ranks communicator of the ranks of all groups
 * @param transport transport that reads across groups
 * @param copyTimeout maximum time to wait for the copies of other ranks
 */
public record ReplicaShards(
    ReplicaGroups groups,
    Communicator ranks,
    Transport transport,
    StoreOptions options,
    Duration copyTimeout) {

  /**
   * Adds this rank's shard to the store of its group. Collective over all ranks.
   *
   * @param writer writer that holds the shard in group 0, and is empty in other groups
   */
  public void add(DDStore store, ShardWriter writer) {
    boolean loads = groups.loads(ranks.rank());
    if (loads) {
      addRows(store, writer);
    }
    byte[] catalog = ranks.broadcast(ranks.rank() == 0 ? store.catalog().toBytes() : null, 0);
    if (!loads) {
      copy(Catalog.parse(catalog), writer);
    }
    // The longer timeout of awaitAll, because a copy can outlast that of a collective.
    ranks.awaitAll("copies of the rows", copyTimeout);
    if (!loads) {
      addRows(store, writer);
    }
  }

  /** Adds the rows read-only, because a change would not reach the copies of other groups. */
  private void addRows(DDStore store, ShardWriter writer) {
    store.addReadOnly(
        StartedRank.ROWS,
        writer,
        "it is one of %d copies (%s %d of %d ranks), and a change would not reach the others; load without %s, or change a variable that the task adds"
            .formatted(
                groups.groups(),
                Setting.WIDTH.key(),
                groups.width(),
                groups.ranks(),
                Setting.WIDTH.key()));
  }

  /**
   * Returns the digest of the rows after comparing it between all groups. Collective over all
   * ranks.
   *
   * @throws DDStoreException if a copy differs from the original
   */
  public String digest(DDStore store) {
    String digest = store.digest(StartedRank.ROWS);
    compare(digest);
    return digest;
  }

  private void copy(Catalog catalog, ShardWriter writer) {
    int member = groups.memberOf(ranks.rank());
    try (AttachedStore first = AttachedStore.open(catalog, transport, options)) {
      Variable rows = first.variable(StartedRank.ROWS);
      writer.appendRowsOf(rows, rows.firstRowOf(member), rows.rowsOf(member));
    }
  }

  private void compare(String digest) {
    byte[][] digests = ranks.allGather(digest.getBytes(StandardCharsets.US_ASCII));
    for (int rank = 0; rank < digests.length; rank++) {
      String other = new String(digests[rank], StandardCharsets.US_ASCII);
      String first = new String(digests[0], StandardCharsets.US_ASCII);
      if (!other.equals(first)) {
        throw new DDStoreException(
            "the copy of replica group %d differs from the rows: digest %s, expected %s"
                .formatted(groups.groupOf(rank), other, first));
      }
    }
  }
}

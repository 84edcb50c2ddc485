// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.ddstore.AttachedStore;
import org.ddstore.Catalog;
import org.ddstore.Shard;
import org.ddstore.ShardWriter;
import org.ddstore.Variable;
import org.ddstore.memory.Nonce;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.cluster.MemoryCheck;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.spark.job.CopyPlacement;
import org.ddstore.spark.job.RankBody;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.spark.wire.connection.WireOptions;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.transport.Transport;
import org.ddstore.types.DDStoreException;

/**
 * The work of one rank in a load of a resident store: leaves the loaded rows in its executor as a
 * shard. Ranks of replica groups after the first copy their shards from the first group. Each rank
 * returns when all ranks have their shards.
 *
 * @param attemptHigh high half of the number of this attempt to load
 * @param attemptLow low half of the number of this attempt to load
 * @param loader loader that knows the rows of each rank
 * @param base global index of the first of all loaded rows
 */
record ResidentLoadTask(
    StoreToken token, long attemptHigh, long attemptLow, ShardLoader loader, long base)
    implements RankBody<ShardReport> {
  private static final long serialVersionUID = 1L;

  ResidentLoadTask(StoreToken token, Nonce attempt, ShardLoader loader, long base) {
    this(token, attempt.high(), attempt.low(), loader, base);
  }

  private Nonce attempt() {
    return new Nonce(attemptHigh, attemptLow);
  }

  @Override
  public ShardReport run(StartedRank rank) {
    ResidentShards.forgetOthers(token.id(), attempt());
    try {
      int[] members = members(rank);
      int member = members[rank.rank()];
      Shard shard = rank.groups().groups() == 1 ? seal(rank) : sealOrCopy(rank, member);
      lease(shard, rank.settings());
      long firstRow =
          base + loader.firstRow(member); // ranks of group 0 hold the shard of their number
      shard.identify(token.id(), loader.shard(member), firstRow);
      RowDigest digest = shard.digest(firstRow);
      compare(rank, members, digest);
      ResidentShards.beginLease(token.id(), attempt(), ResidentShards.LEASE);
      rank.remote().end();
      return ShardReport.of(member, shard, firstRow, digest, rank.remote().description());
    } catch (RuntimeException | Error e) {
      rank.ranks().abort(e);
      ResidentShards.forget(token.id(), attempt());
      throw e;
    }
  }

  /** Returns the shard of each rank, with copies in different executors where possible. */
  private static int[] members(StartedRank rank) {
    if (rank.groups().groups() == 1) {
      return rank.groups().members();
    }
    byte[][] executors =
        rank.ranks().allGather(StartedRank.executorId().getBytes(StandardCharsets.UTF_8));
    return CopyPlacement.of(
        rank.groups(),
        Arrays.stream(executors).map(id -> new String(id, StandardCharsets.UTF_8)).toList());
  }

  private void lease(Shard shard, Settings settings) {
    try {
      WireOptions wire = WireOptions.of(SparkEnv.get(), settings.port());
      ResidentShards.lease(token, wire, attempt(), shard, settings.backing());
    } catch (RuntimeException | Error e) {
      shard.close();
      throw e;
    }
  }

  private static Shard seal(StartedRank rank) {
    Transport transport = rank.remote().forShards();
    return Shard.seal(rank.writer(), transport);
  }

  private static Shard sealOrCopy(StartedRank rank, int member) {
    boolean loads = rank.groups().loads(rank.rank());
    Shard own = loads ? seal(rank) : null;
    try {
      byte[][] addresses =
          rank.ranks().allGather(own == null ? new byte[0] : own.address().toBytes());
      if (loads) {
        return own;
      }
      List<SegmentAddress> first =
          IntStream.range(0, rank.groups().width())
              .mapToObj(r -> SegmentAddress.parse(addresses[r]))
              .toList();
      MemoryCheck.naming(rank.settings(), () -> copy(rank, member, first));
      return seal(rank);
    } catch (RuntimeException | Error e) {
      if (own != null) {
        own.close();
      }
      throw e;
    }
  }

  private static void copy(StartedRank rank, int member, List<SegmentAddress> first) {
    ShardWriter writer = rank.writer();
    Catalog catalog = Catalog.of(rank.groups().width(), StartedRank.ROWS, writer.schema(), first);
    try (AttachedStore store =
        AttachedStore.open(catalog, rank.remote().forCopies(), rank.options())) {
      Variable rows = store.variable(StartedRank.ROWS);
      writer.appendRowsOf(rows, rows.firstRowOf(member), rows.rowsOf(member));
    }
  }

  /** Waits until all ranks have their shards, and checks that copies equal their originals. */
  private static void compare(StartedRank rank, int[] members, RowDigest digest) {
    rank.ranks().awaitAll("load", rank.settings().finishTimeout());
    byte[][] all =
        rank.ranks()
            .allGather(
                ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(digest.high())
                    .putLong(digest.low())
                    .array());
    int width = rank.groups().width();
    for (int r = width; r < all.length; r++) {
      if (!ByteBuffer.wrap(all[r]).equals(ByteBuffer.wrap(all[members[r]]))) {
        throw new DDStoreException(
            "the copy of rank %d differs from the rows of rank %d".formatted(r, members[r]));
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.Base64;
import org.ddstore.Shard;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.ProcessAddress;

/**
 * The report of a rank to the driver about a shard that it has left in its executor.
 *
 * @param member number of the shard in its copy, in [0, width)
 * @param address encoded address of the segment, for {@link #segment()}
 * @param firstRow global index of its first row
 * @param bytes memory of its rows, in bytes
 * @param digestHigh high half of the digest of its rows and their global indices
 * @param digestLow low half of that digest
 * @param executorId Spark's id of the executor
 * @param host host name or address that Spark has registered for the executor
 * @param transport human-readable transport of ranks in other processes, with the reason
 */
public record ShardReport(
    int member,
    String address,
    long firstRow,
    long rows,
    long bytes,
    long digestHigh,
    long digestLow,
    String executorId,
    String host,
    String transport)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  static ShardReport of(
      int member, Shard shard, long firstRow, RowDigest digest, String transport) {
    return new ShardReport(
        member,
        Base64.getEncoder().encodeToString(shard.address().toBytes()),
        firstRow,
        shard.rows(),
        shard.bytes(),
        digest.high(),
        digest.low(),
        StartedRank.executorId(),
        StartedRank.host(),
        transport);
  }

  SegmentAddress segment() {
    return SegmentAddress.parse(Base64.getDecoder().decode(address));
  }

  ProcessAddress process() {
    return segment().endpoint();
  }

  String digest() {
    return "%016x%016x".formatted(digestHigh, digestLow);
  }

  /** Returns whether both shards have the same rows, in any executor. */
  boolean hasRowsOf(ShardReport other) {
    return firstRow == other.firstRow
        && rows == other.rows
        && digestHigh == other.digestHigh
        && digestLow == other.digestLow;
  }
}

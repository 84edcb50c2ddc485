package org.ddstore.spark.resident;

import java.io.Serializable;
import java.util.Base64;
import org.ddstore.Shard;
import org.ddstore.memory.RowDigest;
import org.ddstore.spark.job.StartedRank;
import org.ddstore.transport.SegmentAddress;
import org.ddstore.types.ProcessAddress;

/**
 * What a rank tells the driver of a shard that it has left in its executor.
 *
 * @param member which shard of a copy it is
 * @param address of the segment, for {@link #segment()}
 * @param firstRow the global index of its first row
 * @param bytes of memory
 * @param digestHigh of its rows, bound to their global indices
 * @param digestLow the other half
 * @param executorId Spark's name of the executor
 * @param host its address
 * @param transport how ranks elsewhere would read it, and why so; for people
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

  /** The process that holds the shard. */
  ProcessAddress process() {
    return segment().endpoint();
  }

  String digest() {
    return "%016x%016x".formatted(digestHigh, digestLow);
  }

  /** Whether both hold the same rows, wherever. */
  boolean hasRowsOf(ShardReport other) {
    return firstRow == other.firstRow
        && rows == other.rows
        && digestHigh == other.digestHigh
        && digestLow == other.digestLow;
  }
}

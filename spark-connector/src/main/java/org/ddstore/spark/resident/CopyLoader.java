// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.types.Schema;

/**
 * A loader that fills shards with copies of rows that a resident store still has in other
 * executors.
 *
 * @param shards reports of the shards to copy, by rank of the job
 */
record CopyLoader(StoreSnapshot snapshot, List<ShardReport> shards) implements ShardLoader {
  private static final long serialVersionUID = 1L;

  @Override
  public Schema schema() {
    return snapshot.schema();
  }

  @Override
  public long estimatedBytes(int rank) {
    return shards.get(rank).bytes();
  }

  @Override
  public int shard(int rank) {
    return shards.get(rank).member();
  }

  @Override
  public long firstRow(int rank) {
    return shards.get(rank).firstRow();
  }

  @Override
  public void load(int rank, Iterator<InternalRow> rows, ShardWriter writer) {
    StoreAttachment attachment = StoreAttachment.uncounted(snapshot);
    try {
      writer.appendRowsOf(attachment.rows(), firstRow(rank), shards.get(rank).rows());
    } finally {
      attachment.leave();
    }
  }
}

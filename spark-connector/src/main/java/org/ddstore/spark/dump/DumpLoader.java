// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.dump;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.ingest.ShardLoader;
import org.ddstore.types.Schema;

/** A loader that fills shards with the rows of a dump, in any number of shards. */
final class DumpLoader implements ShardLoader {
  private static final long serialVersionUID = 1L;

  private final DumpDirectory directory;
  private final String folder;
  private final byte[] schema;
  private final List<DumpedFile> files;
  private final long rows;
  private final long memoryBytes;
  private final int shards;
  private final int[] shardOfRank;

  DumpLoader(
      DumpDirectory directory,
      DumpManifest manifest,
      long memoryBytes,
      int shards,
      int... shardOfRank) {
    this.directory = directory;
    this.folder = manifest.folder();
    this.schema = manifest.schema().toBytes();
    this.files = manifest.files();
    this.rows = manifest.rows();
    this.memoryBytes = memoryBytes;
    this.shards = shards;
    this.shardOfRank = shardOfRank.clone();
  }

  @Override
  public Schema schema() {
    return Schema.parse(ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN));
  }

  @Override
  public long estimatedBytes(int rank) {
    return rows == 0 ? 0 : (long) ((double) memoryBytes / rows * (endRow(rank) - firstRow(rank)));
  }

  @Override
  public int shard(int rank) {
    return shardOfRank[rank];
  }

  @Override
  public long firstRow(int rank) {
    return ExtentMap.balancedStart(rows, shardOfRank[rank], shards);
  }

  private long endRow(int rank) {
    return ExtentMap.balancedStart(rows, shardOfRank[rank] + 1, shards);
  }

  @Override
  public void load(int rank, Iterator<InternalRow> none, ShardWriter writer) {
    long end = endRow(rank);
    for (DumpedFile file : files) {
      long from = Math.max(firstRow(rank), file.firstRow());
      long to = Math.min(end, file.endRow());
      if (from < to) {
        try (DumpReader reader = new DumpReader(directory, folder, file, writer.schema())) {
          reader.copy(from, to, writer::appendPacked);
        }
      }
    }
  }

  @Override
  public String toString() {
    return "DumpLoader[%s, %,d rows in %d shards]".formatted(directory, rows, shards);
  }
}

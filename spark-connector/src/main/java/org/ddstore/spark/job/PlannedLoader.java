// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.RowEncoder;
import org.ddstore.types.Schema;

/** A loader of the rows that an {@link IngestPlan} assigns to a rank. */
public final class PlannedLoader implements ShardLoader {
  private static final long serialVersionUID = 1L;

  private final RowEncoder encoder;
  private final long rows;
  private final long bytes;
  private final int parts;
  private final int[] partOfRank;

  /**
   * @param parts number of parts into which the plan divides its rows
   * @param partOfRank part of each rank, in [0, parts)
   */
  public PlannedLoader(IngestPlan plan, int parts, int... partOfRank) {
    this.encoder = plan.encoder();
    this.rows = plan.rows();
    this.bytes = plan.memoryBytes();
    this.parts = parts;
    this.partOfRank = partOfRank.clone();
  }

  @Override
  public Schema schema() {
    return encoder.schema();
  }

  @Override
  public long estimatedBytes(int rank) {
    long own = start(partOfRank[rank] + 1) - firstRow(rank);
    return rows == 0 ? 0 : (long) ((double) bytes / rows * own);
  }

  @Override
  public void load(int rank, Iterator<InternalRow> shard, ShardWriter writer) {
    encoder.encode(shard, firstRow(rank), writer);
  }

  @Override
  public long firstRow(int rank) {
    return start(partOfRank[rank]);
  }

  private long start(int part) {
    return ExtentMap.balancedStart(rows, part, parts);
  }
}

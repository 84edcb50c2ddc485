// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.layout.ExtentMap;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.types.Schema;

/**
 * An encoder of the rows that an {@link IngestPlan} assigns to a rank into the records of its
 * shard. Serialized with the closure of the barrier stage; one call per rank.
 */
public final class RowEncoder implements ShardLoader {
  private static final long serialVersionUID = 1L;
  private static final int INTERRUPT_MASK = 1023;

  private final byte[] schema;
  private final Column[] columns;
  private final Wording wording;
  private final long planRows;
  private final long planBytes;
  private final int shards;
  private final int[] shardOfRank;

  /**
   * @param shards number of shards into which the plan divides its rows
   * @param shardOfRank shard of each rank, in [0, shards)
   */
  RowEncoder(
      IngestPlan plan, List<Column> columns, Wording wording, int shards, int... shardOfRank) {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalStateException("records are little-endian; this machine is not");
    }
    this.schema = plan.schema().toBytes();
    this.columns = columns.toArray(new Column[0]);
    this.wording = wording;
    this.planRows = plan.rows();
    this.planBytes = plan.memoryBytes();
    this.shards = shards;
    this.shardOfRank = shardOfRank.clone();
  }

  @Override
  public Schema schema() {
    return Schema.parse(ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN));
  }

  @Override
  public long estimatedBytes(int rank) {
    long own = start(shardOfRank[rank] + 1) - firstRow(rank);
    return planRows == 0 ? 0 : (long) ((double) planBytes / planRows * own);
  }

  @Override
  public int shard(int rank) {
    return shardOfRank[rank];
  }

  @Override
  public long firstRow(int rank) {
    return start(shardOfRank[rank]);
  }

  private long start(int shard) {
    return ExtentMap.balancedStart(planRows, shard, shards);
  }

  /**
   * Appends the rows of a rank to its shard. Local; throws if the thread is interrupted.
   *
   * @param rows rows of the rank's partition of {@link IngestPlan#shards()}
   * @throws IngestException if a value cannot be stored
   * @throws NotUniformException if a column does not have the form guessed by the plan
   * @throws SourceChangedException if the rows differ from those counted by the plan
   */
  @Override
  public void load(int rank, Iterator<InternalRow> rows, ShardWriter writer) {
    Schema parsed = schema();
    Optional<BlockPacker> packer =
        rows instanceof RowBlocks ? BlockPacker.of(parsed, columns) : Optional.empty();
    if (packer.isPresent()) {
      loadBlocks((RowBlocks) rows, packer.get(), firstRow(rank), writer);
    } else {
      encode(rows, firstRow(rank), writer::appendPacked);
    }
  }

  private void loadBlocks(RowBlocks rows, BlockPacker packer, long firstRow, ShardWriter writer) {
    RecordWriter single = new RecordWriter(firstRow, writer::appendPacked);
    while (rows.hasNext()) {
      RowBlocks.Block block = rows.nextBlock();
      ByteBuffer records = block == null ? null : packer.pack(block);
      if (block == null) {
        single.write(rows.next());
      } else if (records == null) {
        for (int i = 0; i < block.rows(); i++) {
          single.write(block.batch().getRow(block.from() + i));
        }
      } else {
        requireUninterrupted(single.row);
        writer.appendPackedRows(records);
        single.row += block.rows();
      }
    }
  }

  /**
   * Passes each packed record to {@code records}, which must not retain the buffer.
   *
   * @param firstRow global index of the first row, for messages
   */
  void encode(Iterator<InternalRow> rows, long firstRow, Consumer<ByteBuffer> records) {
    RecordWriter writer = new RecordWriter(firstRow, records);
    while (rows.hasNext()) {
      writer.write(rows.next());
    }
  }

  private static void requireUninterrupted(long row) {
    if (Thread.currentThread().isInterrupted()) {
      throw new IllegalStateException("interrupted at row %,d".formatted(row));
    }
  }

  private final class RecordWriter {
    private final Column.Encoder[] encoders = new Column.Encoder[columns.length];
    private final RecordBuffer record;
    private final Consumer<ByteBuffer> records;

    private long row;

    RecordWriter(long firstRow, Consumer<ByteBuffer> records) {
      this.row = firstRow;
      this.records = records;
      Schema parsed = schema();
      this.record = new RecordBuffer(parsed, wording);
      for (int i = 0; i < encoders.length; i++) {
        encoders[i] = columns[i].encoder(parsed);
      }
    }

    void write(InternalRow values) {
      if ((row & INTERRUPT_MASK) == 0) {
        requireUninterrupted(row);
      }
      record.begin(row);
      for (Column.Encoder encoder : encoders) {
        encoder.encode(values, record);
      }
      records.accept(record.end());
      row++;
    }
  }
}

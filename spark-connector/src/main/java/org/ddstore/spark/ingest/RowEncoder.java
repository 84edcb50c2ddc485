// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.ShardWriter;
import org.ddstore.spark.types.IngestException;
import org.ddstore.spark.types.SourceChangedException;
import org.ddstore.types.Schema;

/** An encoder of Spark rows into records. Serialized with the closure; one call per rank. */
public final class RowEncoder implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int INTERRUPT_MASK = 1023;

  private final byte[] schema;
  private final Column[] columns;
  private final Wording wording;

  RowEncoder(Schema schema, List<Column> columns, Wording wording) {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new IllegalStateException("records are little-endian; this machine is not");
    }
    this.schema = schema.toBytes();
    this.columns = columns.toArray(new Column[0]);
    this.wording = wording;
  }

  /** Returns the schema of the records. */
  public Schema schema() {
    return Schema.parse(ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN));
  }

  /**
   * Appends all rows to a shard. Local; throws if the thread is interrupted.
   *
   * @param rows rows of one partition of {@link IngestPlan#shards()}
   * @param firstRow global index of the first row, for messages
   * @throws IngestException if a value cannot be stored
   * @throws NotUniformException if a column does not have the form guessed by the plan
   * @throws SourceChangedException if the rows differ from those counted by the plan
   */
  public void encode(Iterator<InternalRow> rows, long firstRow, ShardWriter writer) {
    encode(rows, firstRow, writer::appendPacked);
  }

  /** Passes each packed record to {@code records}, which must not retain the buffer. */
  void encode(Iterator<InternalRow> rows, long firstRow, Consumer<ByteBuffer> records) {
    Schema parsed = schema();
    Column.Encoder[] encoders = new Column.Encoder[columns.length];
    for (int i = 0; i < encoders.length; i++) {
      encoders[i] = columns[i].encoder(parsed);
    }
    RecordBuffer record = new RecordBuffer(parsed, wording);
    for (long row = firstRow; rows.hasNext(); row++) {
      if ((row & INTERRUPT_MASK) == 0 && Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException("interrupted at row %,d".formatted(row));
      }
      record.begin(row);
      InternalRow values = rows.next();
      for (Column.Encoder encoder : encoders) {
        encoder.encode(values, record);
      }
      records.accept(record.end());
    }
  }
}

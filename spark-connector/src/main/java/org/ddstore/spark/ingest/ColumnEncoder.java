package org.ddstore.spark.ingest;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.ddstore.spark.types.IngestException;

/** An encoder of one column of a row into a record. Does not retain rows; not thread-safe. */
abstract class ColumnEncoder {
  private final ColumnPath path;
  private final int ordinal;

  ColumnEncoder(ColumnPath path) {
    this.path = path;
    this.ordinal = path.ordinal();
  }

  final void encode(InternalRow row, RecordBuffer record) {
    SpecializedGetters parent = path.parent(row);
    if (parent == null || parent.isNullAt(ordinal)) {
      encodeNull(record);
    } else {
      encodeValue(parent, ordinal, record);
    }
  }

  abstract void encodeValue(SpecializedGetters parent, int at, RecordBuffer record);

  abstract void encodeNull(RecordBuffer record);

  final String name() {
    return path.name();
  }

  final IngestException problem(RecordBuffer record, String text) {
    return new IngestException(name(), record.row(), text);
  }

  final ColumnPath columnPath() {
    return path;
  }

  final IngestException nullProblem(RecordBuffer record) {
    return problem(record, "null; " + record.wording().remedyOfNull(path, false));
  }

  final IngestException nullElementProblem(RecordBuffer record) {
    return problem(record, "null element; " + record.wording().remedyOfNull(path, true));
  }
}

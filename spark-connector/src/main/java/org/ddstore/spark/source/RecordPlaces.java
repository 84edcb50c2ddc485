// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.unsafe.Platform;
import org.ddstore.RecordMemory;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The locations of fields in the packed records of a shard. Records with ragged fields are scanned
 * once: each length is checked against the size of the record before it is used.
 */
final class RecordPlaces implements FieldPlaces {
  private final Schema schema;
  private final long first;
  private final long[] records;
  private final long[][] starts;
  private final int[][] counts;

  /**
   * @param memory memory of the records, open until the task ends
   * @param firstRow global index of the first row
   * @param rows number of rows, at most {@link RecordMemory#run} if the records are fixed
   * @param fields indices of the fields to read
   * @throws DDStoreException if a record is damaged
   */
  RecordPlaces(RecordMemory memory, Schema schema, long firstRow, int rows, int... fields) {
    this.schema = schema;
    this.first = rows == 0 ? 0 : memory.address(firstRow);
    this.records = schema.isFixed() ? null : new long[rows];
    this.starts = new long[schema.size()][];
    this.counts = new int[schema.size()][];
    if (records != null) {
      for (int field : fields) {
        if (schema.field(field).isRagged()) {
          starts[field] = new long[rows];
          counts[field] = new int[rows];
        }
      }
      for (int i = 0; i < rows; i++) {
        records[i] = memory.address(firstRow + i);
        locate(i, firstRow + i, memory.recordBytes(firstRow + i));
      }
    }
  }

  private void locate(int i, long row, int recordBytes) {
    long offset = schema.prefixBytes();
    if (recordBytes < offset) {
      throw new DDStoreException(
          "row %d is damaged: record of %d bytes, expected at least %d"
              .formatted(row, recordBytes, offset));
    }
    for (int field = 0; field < starts.length; field++) {
      Field type = schema.field(field);
      if (type.isRagged()) {
        int count = Platform.getInt(null, records[i] + schema.lengthOffset(field));
        long end = offset + (long) count * type.bytes();
        if (count < 0 || end > recordBytes) {
          throw new DDStoreException(
              "row %d is damaged: %d rows of %s at byte %d of a record of %d bytes"
                  .formatted(row, count, type, offset, recordBytes));
        }
        if (starts[field] != null) {
          starts[field][i] = records[i] + offset;
          counts[field][i] = count;
        }
        offset = end;
      }
    }
  }

  @Override
  public Places fixed(int field) {
    int offset = schema.fixedOffset(field);
    return records == null
        ? Places.strided(first + offset, schema.fixedBytes())
        : Places.scattered(offset, records);
  }

  @Override
  public Places ragged(int field) {
    return Places.scattered(0, starts[field]);
  }

  @Override
  public int[] counts(int field) {
    return counts[field];
  }

  @Override
  public boolean lasting() {
    return true;
  }
}

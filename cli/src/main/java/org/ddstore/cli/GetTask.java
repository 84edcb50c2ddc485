// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.cli.RankReadings.FieldText;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.RankTask;

/**
 * A task that reads records by global index on rank 0; the other ranks only hold their rows.
 *
 * @param indices global indices in the order given by the user
 */
record GetTask(List<Long> indices) implements RankTask<GetTask.Found> {
  /** Maximum number of rows per batch, which bounds its memory. */
  private static final int BATCH_ROWS = 64;

  /**
   * The records read by rank 0.
   *
   * @param rows number of rows of the store
   * @param fields fields of a record
   * @param records one record per index; empty if an index is out of range
   */
  record Found(long rows, List<FieldText> fields, List<Map<String, Object>> records)
      implements Serializable {}

  @Override
  public Found run(RankContext context) {
    if (context.rank() != 0) {
      return null;
    }
    long rows = context.rows().rows();
    List<FieldText> fields = FieldText.of(context.rows().schema());
    List<Map<String, Object>> records = new ArrayList<>();
    if (indices.stream().allMatch(index -> index >= 0 && index < rows)) {
      try (Reader reader = context.rows().reader()) {
        for (int from = 0; from < indices.size(); from += BATCH_ROWS) {
          int to = Math.min(indices.size(), from + BATCH_ROWS);
          read(reader, indices.subList(from, to), records);
        }
      }
    }
    return new Found(rows, fields, records);
  }

  private static void read(Reader reader, List<Long> indices, List<Map<String, Object>> records) {
    try (Batch batch = reader.getBatch(indices.stream().mapToLong(i -> i).toArray())) {
      RecordValues values = new RecordValues(batch);
      for (int row = 0; row < indices.size(); row++) {
        records.add(values.record(row));
      }
    }
  }
}

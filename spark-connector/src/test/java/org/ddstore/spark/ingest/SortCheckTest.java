// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.ddstore.spark.ingest.OrderedRows.SourcePartition;
import org.ddstore.spark.ingest.StoredRows.PartitionCount;
import org.ddstore.spark.types.SourceChangedException;
import org.junit.jupiter.api.Test;
import scala.jdk.javaapi.CollectionConverters;

/** Sums of positions before and after a sort. */
class SortCheckTest {
  /** Counts partitions of rows whose only field is their position. */
  private static List<PartitionCount> count(SortCheck check, long[]... partitions) {
    List<PartitionCount> counts = new ArrayList<>();
    for (int i = 0; i < partitions.length; i++) {
      List<InternalRow> rows = new ArrayList<>();
      for (long position : partitions[i]) {
        UnsafeRow row = UnsafeRow.createFromByteArray(16, 1);
        row.setLong(0, position);
        rows.add(row);
      }
      RowChunks.Packer chunks =
          new RowChunks.Packer(CollectionConverters.asScala(rows.iterator()), 1);
      RowChunks.Reader reader =
          new RowChunks.Reader(chunks, 1, new SourcePartition(null, "partition " + i));
      counts.add(check.count(reader, 0, i, partitions.length));
    }
    return counts;
  }

  private static long[] range(long first, long end) {
    return LongStream.range(first, end).toArray();
  }

  @Test
  void acceptsEachPositionOnceInAnyOrderAndPartition() {
    SortCheck check = new SortCheck(10);

    assertThatCode(
            () -> {
              check.verify(count(check, range(0, 10)));
              check.verify(count(check, range(7, 10), range(0, 0), range(0, 7)));
              check.verify(count(check, new long[] {9, 0, 8, 2}, new long[] {1, 7, 6, 3, 5, 4}));
            })
        .doesNotThrowAnyException();
  }

  @Test
  void detectsLostRowsThatRepeatedRowsHide() {
    SortCheck check = new SortCheck(6);

    for (long[] wrong :
        List.of(
            new long[] {0, 1, 2, 3, 4, 4},
            new long[] {0, 0, 2, 3, 5, 5}, // the same sum
            new long[] {1, 1, 2, 3, 4, 4},
            new long[] {0, 1, 2, 3, 4, 6})) {
      assertThatThrownBy(() -> check.verify(count(check, wrong, range(0, 0))))
          .isInstanceOf(SourceChangedException.class)
          .hasMessageStartingWith(
              "the sort of 6 rows returned 6 rows with lost or repeated ones: rows recomputed,");
    }
    assertThatThrownBy(() -> check.verify(count(check, range(0, 5))))
        .hasMessageContaining("returned 5 rows");
    assertThatThrownBy(() -> check.verify(count(check, range(0, 6), range(0, 1))))
        .hasMessageContaining("returned 7 rows");
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.StoreInfo;
import org.ddstore.types.Schema;

/**
 * The results of one rank of the demo; sent to the driver.
 *
 * @param info summary of the store as seen by this rank
 * @param digest digest of all rows
 * @param rowsRead number of rows read and compared
 * @param mismatches number of rows read that differ from the result of Spark SQL
 * @param firstMismatch global index of the first mismatch, or -1
 * @param rowsByPath rows read over each path, by {@link org.ddstore.types.ReadPath#index()}
 * @param single speed of reads of one row
 * @param batches speed of reads of batches
 */
record RankReadings(
    int rank,
    String executor,
    long loadNanos,
    Summary info,
    String digest,
    long rowsRead,
    long mismatches,
    long firstMismatch,
    List<Long> rowsByPath,
    Speed single,
    Speed batches)
    implements Serializable {

  /**
   * A serializable summary of the store.
   *
   * @param rows number of rows of all ranks
   * @param bytes size of all ranks' rows in bytes
   * @param ownRows number of rows of this rank
   * @param ownBytes size of this rank's rows in bytes
   * @param fields fields of a record, as text
   */
  record Summary(long rows, long bytes, long ownRows, long ownBytes, List<FieldText> fields)
      implements Serializable {
    static Summary of(StoreInfo info) {
      StoreInfo.VariableInfo rows = info.variables().get(0);
      return new Summary(
          rows.rows(),
          rows.bytes(),
          own(rows, info.rank()).mapToLong(StoreInfo.Extent::rows).sum(),
          own(rows, info.rank()).mapToLong(StoreInfo.Extent::bytes).sum(),
          FieldText.of(rows.schema()));
    }

    private static Stream<StoreInfo.Extent> own(StoreInfo.VariableInfo rows, int rank) {
      return rows.extents().stream().filter(extent -> extent.rank() == rank);
    }
  }

  /** A field and its type, as text. */
  record FieldText(String field, String type) implements Serializable {
    static List<FieldText> of(Schema schema) {
      return schema.fields().stream()
          .map(field -> new FieldText(field.name(), field.typeText()))
          .toList();
    }
  }

  /** Number of rows read and the time taken in nanoseconds, without comparison. */
  record Speed(long rows, long nanos) implements Serializable {
    static final Speed NONE = new Speed(0, 0);

    double microsPerRow() {
      return rows == 0 ? 0 : nanos / 1e3 / rows;
    }

    Speed plus(Speed other) {
      return new Speed(rows + other.rows, nanos + other.nanos);
    }
  }
}

package org.ddstore.cli;

import java.io.Serializable;
import java.util.List;
import org.ddstore.StoreInfo;

/**
 * What a rank of the demo did and found; sent to the driver.
 *
 * @param info the store as this rank sees it
 * @param digest of all rows
 * @param rowsRead rows that were read and compared
 * @param mismatches those of them that were not what Spark SQL says
 * @param firstMismatch the global index of the first one, or -1
 * @param rowsByPath of {@code rowsRead}, by {@link org.ddstore.types.ReadPath#index()}
 * @param single reads of one row
 * @param batches reads of many
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
   * The store, in what can be sent.
   *
   * @param rows of all ranks
   * @param bytes of all ranks
   * @param ownRows of this rank
   * @param ownBytes of this rank
   * @param fields of a record, as text
   */
  record Summary(long rows, long bytes, long ownRows, long ownBytes, List<FieldText> fields)
      implements Serializable {
    static Summary of(StoreInfo info) {
      StoreInfo.VariableInfo rows = info.variables().get(0);
      return new Summary(
          rows.rows(),
          rows.bytes(),
          own(info).mapToLong(StoreInfo.Extent::rows).sum(),
          own(info).mapToLong(StoreInfo.Extent::bytes).sum(),
          rows.schema().fields().stream()
              .map(field -> new FieldText(field.name(), field.typeText()))
              .toList());
    }

    private static java.util.stream.Stream<StoreInfo.Extent> own(StoreInfo info) {
      return info.variables().get(0).extents().stream()
          .filter(extent -> extent.rank() == info.rank());
    }
  }

  /** A field in words. */
  record FieldText(String field, String type) implements Serializable {}

  /** Rows that were read and the time it took, without any comparison. */
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

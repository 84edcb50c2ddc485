// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.Field;

/**
 * All records of a store that a DataFrame was loaded into, read by the last rank by global index.
 *
 * @param fields type of each field by its name, such as {@code uint8[28, 28]}
 * @param values bytes of all rows by field, one after the other: little-endian, row-major
 * @param offsets of a ragged field, the number of elements before each row and of all
 */
public record StoredRecords(
    Map<String, String> fields, Map<String, byte[]> values, Map<String, List<Long>> offsets)
    implements Serializable {

  /** Loads the rows into a store of some ranks, reads all, and drops the store. */
  public static StoredRecords of(Dataset<Row> rows, int ranks) {
    return of(DDStores.from(rows), ranks);
  }

  /** Loads the rows into stores of one to four ranks, which must have the same records. */
  public static StoredRecords ofAnyRanks(Dataset<Row> rows) {
    StoredRecords one = of(rows, 1);
    for (int ranks = 2; ranks <= 4; ranks++) {
      assertThat(of(rows, ranks)).as("%d ranks", ranks).isEqualTo(one);
    }
    return one;
  }

  /** Returns the values of all rows of a field, little-endian. */
  public ByteBuffer buffer(String field) {
    return ByteBuffer.wrap(values.get(field)).order(ByteOrder.LITTLE_ENDIAN);
  }

  public static StoredRecords of(StoreSpec spec, int ranks) {
    return spec.ranks(ranks).run(StoredRecords::readOnLastRank).get(ranks - 1);
  }

  private static StoredRecords readOnLastRank(RankContext context) {
    if (context.rank() < context.ranks() - 1) {
      return null;
    }
    Map<String, String> fields = new LinkedHashMap<>();
    Map<String, byte[]> values = new LinkedHashMap<>();
    Map<String, List<Long>> offsets = new LinkedHashMap<>();
    long rows = context.rows().rows();
    try (Reader reader = context.rows().reader();
        Batch batch = reader.getBatch(LongStream.range(0, rows).toArray())) {
      for (Field field : batch.schema().fields()) {
        fields.put(field.name(), field.typeText());
        ByteBuffer bytes = batch.field(field.name()).asByteBuffer().duplicate();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        values.put(field.name(), copy);
        if (field.isRagged()) {
          ByteBuffer found =
              batch.offsets(field.name()).asByteBuffer().duplicate().order(ByteOrder.LITTLE_ENDIAN);
          List<Long> starts = new ArrayList<>();
          while (found.hasRemaining()) {
            starts.add(found.getLong());
          }
          offsets.put(field.name(), starts);
        }
      }
    }
    return new StoredRecords(fields, values, offsets);
  }

  /** Records are equal if fields, values and offsets are. */
  @Override
  public boolean equals(Object other) {
    return other instanceof StoredRecords that
        && fields.equals(that.fields)
        && offsets.equals(that.offsets)
        && values.keySet().equals(that.values.keySet())
        && values.keySet().stream()
            .allMatch(name -> java.util.Arrays.equals(values.get(name), that.values.get(name)));
  }

  @Override
  public int hashCode() {
    return fields.hashCode();
  }
}

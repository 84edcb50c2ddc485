// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.ddstore.layout.ExtentMap;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import scala.reflect.ClassTag$;

/** Runs plans and reads the records back, by {@link Schema}'s drawing of a record alone. */
final class Loads {
  /** The records of a load: by row and field, arrays as lists of numbers. */
  record Loaded(Schema schema, List<List<Object>> rows, List<Integer> shardRows) {
    List<Object> column(String field) {
      int index = schema.indexOf(field);
      return rows.stream().map(row -> row.get(index)).toList();
    }
  }

  private Loads() {}

  static Loaded load(Dataset<Row> df, int ranks) {
    return load(df, IngestOptions.defaults(), ranks);
  }

  /** Plans and runs until no column is found not to be uniform. */
  static Loaded load(Dataset<Row> df, IngestOptions options, int ranks) {
    try (IngestPlan plan = IngestPlan.of(df, options, ranks)) {
      return run(plan, ranks);
    }
  }

  static Loaded run(IngestPlan first, int ranks) {
    IngestPlan plan = first;
    while (true) {
      try {
        return attempt(plan, ranks);
      } catch (NotUniformException e) {
        plan = plan.with(e);
      }
    }
  }

  static Loaded attempt(IngestPlan plan, int ranks) {
    RowEncoder encoder = plan.encoder(IntStream.range(0, ranks).toArray());
    long rows = plan.rows();
    Function2<Integer, Iterator<InternalRow>, Iterator<List<byte[]>>> encode =
        (rank, shard) -> {
          List<byte[]> records = new ArrayList<>();
          encoder.encode(
              shard,
              ExtentMap.balancedStart(rows, rank, ranks),
              record -> {
                byte[] bytes = new byte[record.remaining()];
                record.get(bytes);
                records.add(bytes);
              });
          return List.of(records).iterator();
        };
    List<List<byte[]>> shards;
    try {
      shards =
          new JavaRDD<>(plan.shards(), ClassTag$.MODULE$.<InternalRow>apply(InternalRow.class))
              .mapPartitionsWithIndex(encode, true)
              .collect();
    } catch (Exception e) {
      throw cause(e);
    }
    List<List<Object>> decoded = new ArrayList<>();
    List<Integer> shardRows = new ArrayList<>();
    for (List<byte[]> shard : shards) {
      shardRows.add(shard.size());
      shard.forEach(record -> decoded.add(decode(plan.schema(), record)));
    }
    return new Loaded(plan.schema(), decoded, shardRows);
  }

  /** Returns the exception of a task, found as by the driver of a barrier stage. */
  static RuntimeException cause(Exception thrown) {
    Throwable at = thrown;
    while (at.getCause() != null) {
      at = at.getCause();
    }
    return at instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }

  private static List<Object> decode(Schema schema, byte[] record) {
    ByteBuffer in = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    int data = schema.prefixBytes();
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < schema.size(); i++) {
      Field field = schema.field(i);
      if (!field.isRagged()) {
        int place = schema.fixedOffset(i);
        values.add(
            field.shape().length == 0
                ? element(in, field.dtype(), place)
                : elements(in, field.dtype(), place, field.elements()));
        continue;
      }
      int count = in.getInt(schema.lengthOffset(i)) * field.elements();
      switch (field.kind()) {
        case STRING -> values.add(new String(record, data, count, StandardCharsets.UTF_8));
        case BYTES -> values.add(ByteBuffer.wrap(record, data, count).slice());
        default -> values.add(elements(in, field.dtype(), data, count));
      }
      data += count * field.dtype().bytes();
    }
    if (data != record.length) {
      throw new AssertionError(record.length + " bytes, decoded " + data);
    }
    return values;
  }

  private static List<Object> elements(ByteBuffer in, DType dtype, int place, int count) {
    List<Object> found = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      found.add(element(in, dtype, place + i * dtype.bytes()));
    }
    return found;
  }

  private static Object element(ByteBuffer in, DType dtype, int at) {
    return switch (dtype) {
      case BOOL -> in.get(at) != 0;
      case INT8 -> in.get(at);
      case UINT8 -> Byte.toUnsignedInt(in.get(at));
      case INT16, FLOAT16, BFLOAT16 -> in.getShort(at);
      case INT32 -> in.getInt(at);
      case INT64 -> in.getLong(at);
      case FLOAT32 -> in.getFloat(at);
      case FLOAT64 -> in.getDouble(at);
    };
  }
}

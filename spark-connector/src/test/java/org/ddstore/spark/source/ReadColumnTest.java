// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.RecordMemory;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.spark.FieldNotation;
import org.ddstore.spark.ingest.IngestOptions;
import org.ddstore.spark.ingest.IngestPlan;
import org.ddstore.spark.ingest.NotUniformException;
import org.ddstore.spark.types.DecimalForm;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns over records and over tensors give the rows that Spark gave. */
class ReadColumnTest {
  private static final int ROWS = 120;

  private SparkSession spark;
  private Communicator group;
  private DDStore store;

  @BeforeEach
  void open() {
    spark = LocalSpark.session();
    group = LocalGroup.create(1, Duration.ofMinutes(1)).get(0);
    store = DDStore.open(group, StoreOptions.defaults());
  }

  @AfterEach
  void close() {
    store.close();
    group.close();
  }

  private Variable load(Dataset<Row> rows, IngestOptions options) {
    IngestPlan plan = IngestPlan.of(rows, options, 1);
    try {
      while (true) {
        ShardWriter writer = ShardWriter.create(plan.schema(), StoreOptions.defaults());
        try {
          Iterator<InternalRow> all =
              plan.shards().toJavaRDD().map(InternalRow::copy).collect().iterator();
          plan.encoder(0).load(0, all, writer);
          return store.add("rows", writer);
        } catch (NotUniformException e) {
          writer.close();
          plan = plan.with(e);
        }
      }
    } finally {
      plan.close();
    }
  }

  private static IngestOptions options(Set<String> columns) {
    IngestOptions options = IngestOptions.defaults();
    for (Map.Entry<String, String> type : EveryType.TYPES.entrySet()) {
      if (!columns.contains(type.getKey())) {
        continue;
      }
      Field field = FieldNotation.parse(type.getKey(), type.getValue());
      options =
          field.isRagged()
              ? options.raggedField(field.name(), field.dtype(), field.shape())
              : options.field(field.name(), field.dtype(), field.shape());
    }
    for (Map.Entry<String, String> form : EveryType.DECIMALS.entrySet()) {
      if (columns.contains(form.getKey())) {
        options = options.decimals(DecimalForm.parse(form.getValue()), form.getKey());
      }
    }
    return options;
  }

  private static List<Row> rows(
      StructType required, StructType all, Variable variable, Function<int[], FieldPlaces> places) {
    Schema schema = variable.schema();
    List<ReadColumn> columns = ReadSchema.of(required, all, Set.of("__index")).columns(schema);
    int[] fields =
        columns.stream()
            .flatMap(column -> column.fields().stream())
            .mapToInt(Integer::intValue)
            .distinct()
            .toArray();
    FieldPlaces found = places.apply(fields);
    ColumnVector[] vectors =
        columns.stream().map(column -> column.vector().apply(found)).toArray(ColumnVector[]::new);
    ColumnarBatch batch = new ColumnarBatch(vectors, ROWS);
    scala.Function1<Object, Object> toRow = CatalystTypeConverters.createToScalaConverter(required);
    List<Row> rows = new ArrayList<>();
    batch.rowIterator().forEachRemaining(row -> rows.add((Row) toRow.apply(row)));
    return rows;
  }

  private void assertReadBack(Dataset<Row> source, StructType required) {
    Variable variable = load(source, options(Set.of(source.columns())));
    List<Row> expected = select(source, List.of(required.fieldNames())).collectAsList();
    StructType all = source.schema();
    try (RecordMemory memory = variable.memory(0).orElseThrow()) {
      List<Row> inPlace =
          rows(
              required,
              all,
              variable,
              fields -> new RecordPlaces(memory, variable.schema(), 0, ROWS, fields));
      assertThat(inPlace).as("rows read in place").hasSize(ROWS);
      assertEqual(inPlace, expected);
    }
    long[] indices = IntStream.range(0, ROWS).mapToLong(i -> i).toArray();
    try (Reader reader = variable.reader();
        Batch batch = reader.getBatch(indices)) {
      assertEqual(rows(required, all, variable, fields -> new TensorPlaces(batch)), expected);
    }
  }

  private static void assertEqual(List<Row> actual, List<Row> expected) {
    assertThat(PlainRows.of(actual)).isEqualTo(PlainRows.of(expected));
  }

  private static Dataset<Row> select(Dataset<Row> rows, List<String> columns) {
    return rows.select(columns.stream().map(rows::col).toArray(Column[]::new));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsBackEveryType(boolean fixedOnly) {
    Dataset<Row> source = EveryType.frame(spark, ROWS);
    if (fixedOnly) {
      source = select(source, EveryType.fixedColumns());
    }
    assertReadBack(source, source.schema());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"text", "points,id", "nested", "sparse,dense", "cube,ragged,matrix", "image,blob"})
  void readsBackSelectedColumns(String names) {
    Dataset<Row> source = EveryType.frame(spark, ROWS);
    StructType required = new StructType();
    for (String name : names.split(",", -1)) {
      required = required.add(source.schema().apply(name));
    }
    assertReadBack(source, required);
  }
}

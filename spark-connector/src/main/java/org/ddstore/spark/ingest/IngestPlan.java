// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/**
 * The plan of a load of DataFrame rows into the ranks, made on the driver. Row order, schema and
 * every byte depend only on the data and the options, never on the number of ranks, cores or
 * partitions.
 *
 * <p>Planning runs jobs: one counts rows, from file footers only where possible; one samples rows;
 * one stores the rows if they must be sorted or their order is not reproducible. Stored rows stay
 * on the executors' disks until {@link #close}.
 */
public final class IngestPlan implements AutoCloseable {
  private final OrderedRows rows;
  private final StructType source;
  private final List<Column> columns;
  private final Schema schema;
  private final RowSample sample;
  private final int ranks;
  private final String route;
  private final List<String> warnings;
  private final Wording wording;

  private IngestPlan(
      OrderedRows rows,
      StructType source,
      List<Column> columns,
      RowSample sample,
      int ranks,
      String route,
      List<String> warnings,
      Wording wording) {
    this.rows = rows;
    this.source = source;
    this.columns = columns;
    this.sample = sample;
    this.ranks = ranks;
    this.route = route;
    this.warnings = List.copyOf(warnings);
    this.wording = wording;
    List<Field> fields = new ArrayList<>();
    columns.forEach(column -> fields.addAll(column.fields()));
    this.schema = Schema.of(fields);
  }

  /**
   * Plans the load of {@code df} into {@code ranks} shards. Blocks while its jobs run.
   *
   * @throws IngestException if a column cannot be stored
   * @throws IllegalArgumentException if an option does not fit, the DataFrame is streaming, or
   *     {@code ranks} is below 1
   */
  public static IngestPlan of(Dataset<Row> df, IngestOptions options, int ranks) {
    if (ranks < 1) {
      throw new IllegalArgumentException("ranks: " + ranks + " below 1");
    }
    if (df.isStreaming()) {
      throw new IllegalArgumentException("a streaming DataFrame is unbounded and cannot be loaded");
    }
    List<Column> resolved = ColumnResolver.resolve(df.schema(), options);
    ColumnNames.check(df, resolved);
    ColumnNames.checkOrder(df, options);
    SourcePlan source = SourcePlan.of(df, resolved, options);
    try {
      RowSample sample = RowSample.take(source.rows(), source.columns());
      return new IngestPlan(
          source.rows(),
          df.schema(),
          sample.guess(source.columns()),
          sample,
          ranks,
          source.route(),
          source.warnings(),
          options.wording());
    } catch (Exception | Error e) { // Spark throws checked exceptions that it does not declare
      source.rows().release();
      throw e;
    }
  }

  /**
   * Checks that a DataFrame has all columns of the options, without planning its load.
   *
   * @throws IllegalArgumentException naming a missing column
   */
  public static void checkNames(Dataset<Row> df, IngestOptions options) {
    ColumnResolver.checkNames(df.schema(), options);
    ColumnNames.checkOrder(df, options);
  }

  public long rows() {
    return rows.rows();
  }

  /** Returns the schema of the records as far as it is known; see {@link #with}. */
  public Schema schema() {
    return schema;
  }

  /**
   * Returns an RDD whose partition r contains the rows of rank r in global order. Run it as one
   * barrier stage; it can run repeatedly. A row is valid until the next one is read.
   */
  public RDD<InternalRow> shards() {
    return shards(ranks);
  }

  /**
   * Returns the RDD of {@link #shards()} followed by empty partitions.
   *
   * @param partitions number of partitions, at least the number of ranks
   */
  public RDD<InternalRow> shards(int partitions) {
    return rows.shards(ranks, partitions, rowBytes());
  }

  /**
   * Returns an RDD of the rows of some shards.
   *
   * @param chosen ranks of the shards: partition i contains the rows of rank {@code chosen[i]}
   */
  public RDD<InternalRow> shardsOf(int... chosen) {
    return rows.shardsOf(ranks, rowBytes(), chosen);
  }

  private long rowBytes() {
    return rows() == 0 ? 0 : memoryBytes() / rows();
  }

  /** Returns the loaded columns, in order, with their DataFrame types. */
  public StructType sourceSchema() {
    return new SourceColumns(source, columns).prunedSchema();
  }

  /** Returns the mapping of each loaded column; structs have one per inner column. */
  public List<ColumnMapping> mappings() {
    return new SourceColumns(source, columns).mappings();
  }

  /**
   * Returns this plan with open columns in the form that they have in a schema, if it has them. The
   * plans share stored rows: closing either releases them.
   */
  public IngestPlan like(Schema other) {
    List<Column> changed = new ArrayList<>();
    for (Column column : columns) {
      changed.add(column.isOpen() ? inFormOf(column, other) : column);
    }
    return new IngestPlan(rows, source, changed, sample, ranks, route, warnings, wording);
  }

  private static Column inFormOf(Column column, Schema other) {
    Field field = null;
    for (int i = 0; i < other.size(); i++) {
      if (other.field(i).name().equals(column.name() + ".indices")) {
        return column.in(ArrayForm.SPARSE, 0);
      }
      field = other.field(i).name().equals(column.name()) ? other.field(i) : field;
    }
    if (field == null || (!field.isRagged() && field.shape().length != 1)) {
      return column;
    }
    return field.isRagged()
        ? column.in(ArrayForm.RAGGED, 0)
        : column.in(ArrayForm.UNIFORM, field.shape()[0]);
  }

  /**
   * Returns the encoder of the rows; captured by the closure of the barrier stage.
   *
   * @param shardOfRank shard that each rank of the stage loads, in [0, ranks of the plan)
   */
  public RowEncoder encoder(int... shardOfRank) {
    return new RowEncoder(this, columns, wording, ranks, shardOfRank);
  }

  /** Returns a human-readable description of how the rows are read. */
  public String route() {
    return route;
  }

  public List<String> warnings() {
    return warnings;
  }

  /** Returns the total bytes of all records: exact if fixed, else estimated from a sample. */
  public long estimatedBytes() {
    return rows() * schema.prefixBytes() + Math.round(rows() * sample.raggedBytes(columns));
  }

  /** Returns the total bytes of all shards: {@link #estimatedBytes} plus ragged offsets. */
  public long memoryBytes() {
    return estimatedBytes() + (schema.isFixed() ? 0 : rows() * Long.BYTES);
  }

  /** Returns whether {@link #estimatedBytes} is exact. */
  public boolean isSizeExact() {
    return schema.isFixed();
  }

  /**
   * Returns the corrected plan after a rank found that a column differs from the plan's guess. The
   * plans share stored rows: closing either releases them.
   */
  public IngestPlan with(NotUniformException found) {
    return withForm(found.column(), found.form());
  }

  /** Returns this plan with an array column loaded as ragged; shares stored rows with this. */
  public IngestPlan withRagged(String column) {
    return withForm(column, ArrayForm.RAGGED);
  }

  private IngestPlan withForm(String name, ArrayForm form) {
    List<Column> changed = new ArrayList<>();
    boolean found = false;
    for (Column column : columns) {
      boolean matches = column.name().equals(name);
      found |= matches;
      changed.add(matches ? column.in(form, 0) : column);
    }
    if (!found) {
      throw new IllegalArgumentException(
          "column \"%s\": no such column: choose one of %s"
              .formatted(name, columns.stream().map(Column::name).toList()));
    }
    return new IngestPlan(rows, source, changed, sample, ranks, route, warnings, wording);
  }

  /** Releases the stored rows. Idempotent. */
  @Override
  public void close() {
    rows.release();
  }

  @Override
  public String toString() {
    return "IngestPlan[%,d rows of %s, %s]".formatted(rows(), schema, route);
  }
}

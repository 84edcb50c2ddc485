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
 * How the rows of a DataFrame come to the ranks, decided in the driver. Row order, schema and every
 * byte depend on the data and the options alone, never on the number of ranks, cores or partitions.
 *
 * <p>Making a plan runs jobs: one that counts rows, for files only of their footers where that
 * suffices; one that looks at some rows; one that stores the rows if they must be sorted or their
 * order could not be had again. What is stored lies on the executors' disks until {@link #close}.
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
   * @throws IngestException for a column that cannot be stored
   * @throws IllegalArgumentException for options that do not fit, a streaming DataFrame, or no rank
   */
  public static IngestPlan of(Dataset<Row> df, IngestOptions options, int ranks) {
    if (ranks < 1) {
      throw new IllegalArgumentException(ranks + " ranks; at least 1 is needed");
    }
    if (df.isStreaming()) {
      throw new IllegalArgumentException("a streaming DataFrame has no end to load");
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
   * Checks that a DataFrame has all columns that options name, without planning its load.
   *
   * @throws IllegalArgumentException naming a column that is missing
   */
  public static void checkNames(Dataset<Row> df, IngestOptions options) {
    ColumnResolver.checkNames(df.schema(), options);
    ColumnNames.checkOrder(df, options);
  }

  /** How many rows there are. */
  public long rows() {
    return rows.rows();
  }

  /** The schema of the records, as far as it is known; see {@link #with}. */
  public Schema schema() {
    return schema;
  }

  /**
   * The rows: partition r holds those of rank r, in global order. To be run as one barrier stage,
   * as often as wanted. A row is valid until the next one is asked for.
   */
  public RDD<InternalRow> shards() {
    return shards(ranks);
  }

  /**
   * As {@link #shards()}, with empty partitions after them.
   *
   * @param partitions at least the number of ranks
   */
  public RDD<InternalRow> shards(int partitions) {
    return rows.shards(ranks, partitions);
  }

  /**
   * The rows of some shards only.
   *
   * @param chosen the ranks whose rows are wanted: partition i holds those of rank {@code
   *     chosen[i]}
   */
  public RDD<InternalRow> shardsOf(int... chosen) {
    return rows.shardsOf(ranks, chosen);
  }

  /** The columns that are taken, in their order, as the DataFrame has them. */
  public StructType sourceSchema() {
    return new SourceColumns(source, columns).taken();
  }

  /** What became of each column; a struct of the DataFrame has one for each that is in it. */
  public List<ColumnMapping> mappings() {
    return new SourceColumns(source, columns).mappings();
  }

  /**
   * The same plan with the columns whose form is open in the form that they have in a schema, as
   * far as it has them. It shares what this one has stored: close either.
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

  /** What packs the rows; to be captured by the closure of the barrier stage. */
  public RowEncoder encoder() {
    return new RowEncoder(schema, columns, wording);
  }

  /** The way the rows take, for people. */
  public String route() {
    return route;
  }

  /** What users should know before they rely on the load; mostly nothing. */
  public List<String> warnings() {
    return warnings;
  }

  /** Bytes of all records together: exact for fixed ones, else from a sample of rows. */
  public long estimatedBytes() {
    return rows() * schema.prefixBytes() + Math.round(rows() * sample.raggedBytes(columns));
  }

  /** {@link #estimatedBytes}, and the offsets of ragged records: what the shards take together. */
  public long memoryBytes() {
    return estimatedBytes() + (schema.isFixed() ? 0 : rows() * Long.BYTES);
  }

  /** Whether {@link #estimatedBytes} is exact. */
  public boolean isSizeExact() {
    return schema.isFixed();
  }

  /**
   * The plan to go on with after a rank found that a column is not what the plan guessed. It shares
   * what this one has stored: close either.
   */
  public IngestPlan with(NotUniformException found) {
    return withForm(found.column(), found.form());
  }

  /** The same plan with a column of arrays taken as ragged. It shares what this one has stored. */
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
          "no column \"%s\"; there are %s"
              .formatted(name, columns.stream().map(Column::name).toList()));
    }
    return new IngestPlan(rows, source, changed, sample, ranks, route, warnings, wording);
  }

  /** Releases what was stored. Idempotent. */
  @Override
  public void close() {
    rows.release();
  }

  @Override
  public String toString() {
    return "IngestPlan[%,d rows of %s, %s]".formatted(rows(), schema, route);
  }
}

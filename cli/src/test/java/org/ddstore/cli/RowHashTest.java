// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.StoreSpec;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check of the demo: it reads both of its sides and detects a byte that differs. */
class RowHashTest {
  private static final long SEED = 7;

  /** Reads against the clock show nothing here. */
  private static final long SPEED_NANOS = 1;

  private static final List<FieldType> TYPES = List.of(FieldType.parse(ParquetSamples.MATRIX));

  @TempDir private static Path directory;
  private static SparkSession spark;
  private static Path mixed;

  @BeforeAll
  static void write() {
    spark = ParquetSamples.session();
    mixed = directory.resolve("mixed");
    ParquetSamples.writeMixed(spark, mixed);
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  private static Dataset<Row> files() {
    return spark.read().parquet(mixed.toString());
  }

  private static SourceOptions declared() {
    SourceOptions options = new SourceOptions();
    TYPES.forEach(options::addType);
    return options;
  }

  private static StoreSpec spec(Dataset<Row> rows) {
    StoreSpec spec = DDStores.from(rows).ranks(2);
    return rows.columns().length > 1 ? TYPES.get(0).declareIn(spec) : spec;
  }

  private static DemoResult run(Dataset<Row> asSqlSees, Dataset<Row> asStored) {
    return run(asSqlSees, asStored, List.of());
  }

  private static DemoResult run(
      Dataset<Row> asSqlSees, Dataset<Row> asStored, List<String> orderBy) {
    List<Leaf> leaves = Leaf.of(asSqlSees.schema(), declared());
    ExpectedRows expected = RowOracle.query(asSqlSees, leaves, orderBy, SEED);
    return DemoTask.run(spec(asStored), expected, leaves, 64, SEED, SPEED_NANOS);
  }

  @Test
  void findsOneDifferentElement() {
    Dataset<Row> other =
        files().withColumn("seq", functions.expr("if(id = 702, transform(seq, s -> s + 1), seq)"));

    DemoResult result = run(files(), other);

    assertThat(result.mismatches()).isPositive();
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.ranks()).anyMatch(rank -> rank.firstMismatch() >= 0);
  }

  @Test
  void findsReorderedAndMissingRows() {
    assertThat(run(files(), files(), List.of("k")).mismatches()).isPositive();
    assertThat(run(files().limit(900), files()).mismatches()).isPositive();
  }

  /** Every byte of every tensor counts, one after the other. */
  @Test
  void hashDependsOnEveryByteOfARow() throws IOException {
    Dataset<Row> files = files().coalesce(1).limit(1);
    List<Leaf> leaves = Leaf.of(files.schema(), declared());
    byte[] sql = new SqlRows(leaves).hash(row(files, leaves));

    List<String> unseen =
        spec(files).ranks(1).run(context -> flipEach(context.rows().reader(), leaves, sql)).get(0);

    assertThat(unseen).isEmpty();
  }

  private static Row row(Dataset<Row> files, List<Leaf> leaves) {
    return files
        .select(leaves.stream().map(Leaf::column).toArray(org.apache.spark.sql.Column[]::new))
        .head();
  }

  private static List<String> flipEach(Reader reader, List<Leaf> leaves, byte... expected) {
    Schema schema = reader.variable().schema();
    java.util.ArrayList<String> unseen = new java.util.ArrayList<>();
    BatchRows hasher = new BatchRows(schema, leaves);
    byte[] hash = new byte[RowHash.BYTES];
    try (Batch batch = reader.getBatch(0L)) {
      hasher.open(batch);
      hasher.hash(0, hash);
      assertThat(hash).isEqualTo(expected);
      for (Field field : schema.fields()) {
        ByteBuffer bytes = batch.field(field.name()).asByteBuffer();
        for (int i = 0; i < bytes.limit(); i++) {
          bytes.put(i, (byte) (bytes.get(i) ^ 1));
          hasher.hash(0, hash);
          bytes.put(i, (byte) (bytes.get(i) ^ 1));
          if (java.util.Arrays.equals(hash, expected)) {
            unseen.add(field + " byte " + i);
          }
        }
      }
    }
    return unseen;
  }
}

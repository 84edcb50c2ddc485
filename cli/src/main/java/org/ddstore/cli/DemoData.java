// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.local.EmbeddedSpark;

/**
 * The data set that the demo writes if none is given: images, labels, point lists of varying
 * length, and text in several scripts. Equal seeds give equal rows.
 */
public final class DemoData {
  /** Types that Parquet cannot express: binary has no shape, and arrays of arrays have no width. */
  static final List<FieldType> TYPES =
      List.of(FieldType.parse("image=uint8[28,28]"), FieldType.parse("points=float32[?,2]"));

  /** Mean size of a row in a store, rounded up; measured. */
  static final long BYTES_PER_ROW = 900;

  private static final int FILES = 8;
  private static final int SIDE = 28;
  private static final int LABELS = 10;
  private static final int MAX_POINTS = 12;
  private static final int MAX_WORDS = 8;
  private static final String[] WORDS = {
    "store", "Größe", "naïve", "данные", "σύνολο", "数据", "データ", "बिंदु", "नक्शा", "🚀", "עץ", "row"
  };

  private DemoData() {}

  /**
   * Writes rows to a scratch directory and returns them as a DataFrame with {@code id}, {@code
   * image} (28 x 28 bytes: a disc on noise), {@code label} (0 to 9, growing with the disc) and
   * other columns. They depend only on their number. Blocks.
   */
  public static Dataset<Row> images(EmbeddedSpark spark, long rows) throws IOException {
    Path directory = spark.scratch("images").resolve("rows.parquet");
    write(spark.session(), directory, rows, 42);
    return spark.session().read().parquet(directory.toUri().toString());
  }

  /** Writes {@code rows} rows as Parquet files into a directory that does not exist yet. */
  static void write(SparkSession spark, Path directory, long rows, long seed) {
    StructType schema =
        new StructType()
            .add("id", DataTypes.LongType, false)
            .add("image", DataTypes.BinaryType, false)
            .add("label", DataTypes.IntegerType, false)
            .add(
                "points",
                DataTypes.createArrayType(
                    DataTypes.createArrayType(DataTypes.FloatType, false), false),
                false)
            .add("text", DataTypes.StringType, false);
    spark
        .range(0, rows, 1, FILES)
        .mapPartitions(new Rows(seed), Encoders.row(schema))
        .write()
        .parquet(directory.toUri().toString());
  }

  private record Rows(long seed) implements MapPartitionsFunction<Long, Row>, Serializable {
    @Override
    public Iterator<Row> call(Iterator<Long> ids) {
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return ids.hasNext();
        }

        @Override
        public Row next() {
          return row(ids.next(), seed);
        }
      };
    }
  }

  private static Row row(long id, long seed) {
    SplittableRandom random = new SplittableRandom(seed * 1_000_003 + id);
    int label = random.nextInt(LABELS);
    return RowFactory.create(id, image(random, label), label, points(random), text(random, id));
  }

  /** Returns an image of a disc on noise; the radius grows with the label. */
  private static byte[] image(SplittableRandom random, int label) {
    byte[] image = new byte[SIDE * SIDE];
    random.nextBytes(image);
    int radius = 2 + label;
    int centre = SIDE / 2;
    for (int y = 0; y < SIDE; y++) {
      for (int x = 0; x < SIDE; x++) {
        int distance = (x - centre) * (x - centre) + (y - centre) * (y - centre);
        int noise = image[y * SIDE + x] & 0x3F;
        image[y * SIDE + x] = (byte) (distance <= radius * radius ? 255 - noise : noise);
      }
    }
    return image;
  }

  private static float[][] points(SplittableRandom random) {
    float[][] points = new float[random.nextInt(MAX_POINTS + 1)][];
    for (int i = 0; i < points.length; i++) {
      points[i] = new float[] {(float) random.nextDouble(), (float) random.nextDouble()};
    }
    return points;
  }

  private static String text(SplittableRandom random, long id) {
    StringBuilder text = new StringBuilder("#").append(id);
    for (int i = random.nextInt(MAX_WORDS); i > 0; i--) {
      text.append(' ').append(WORDS[random.nextInt(WORDS.length)]);
    }
    return text.toString();
  }
}

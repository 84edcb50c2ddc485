// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.ddstore.formats.FormatOptionKeys;

/**
 * The images of a training as a DataFrame of {@value #IMAGE} (binary, {@value Layer#PIXELS} bytes)
 * and {@value #TEST} (boolean: not to be trained on), with their checksums as an oracle: these are
 * computed on the driver, without the store.
 */
final class TrainingImages {
  static final String IMAGE = "image";
  static final String TEST = "test";

  /** One image in this number is a test image, if the source does not say which are. */
  private static final int TEST_SHARE = 7;

  private static final byte[] PARQUET = {'P', 'A', 'R', '1'};

  private final Dataset<Row> frame;
  private final int[] checksums;

  private TrainingImages(Dataset<Row> frame, int... checksums) {
    this.frame = frame;
    this.checksums = checksums;
  }

  Dataset<Row> frame() {
    return frame;
  }

  /** Returns the CRC-32 of each image, by its global index in the store. */
  int[] checksums() {
    return checksums.clone();
  }

  static int checksum(byte... pixels) {
    CRC32 checksum = new CRC32();
    checksum.update(pixels);
    return (int) checksum.getValue();
  }

  /**
   * Returns images of {@link DigitImages}, which the executors draw; the last seventh is for tests.
   */
  static TrainingImages generated(SparkSession spark, int rows) {
    UDF1<Long, byte[]> draw = DigitImages::image;
    Column id = functions.col("id");
    Dataset<Row> frame =
        spark
            .range(rows)
            .select(
                functions.udf(draw, DataTypes.BinaryType).apply(id).as(IMAGE),
                id.geq(firstTest(rows)).as(TEST));
    int[] checksums = new int[rows];
    Arrays.parallelSetAll(checksums, row -> checksum(DigitImages.image(row)));
    return new TrainingImages(frame, checksums);
  }

  private static int firstTest(int rows) {
    return rows - rows / TEST_SHARE;
  }

  /**
   * Opens images of the user.
   *
   * @param input path of an IDX file, of a folder of MNIST's IDX files, or of Parquet with a column
   *     {@value #IMAGE} and possibly a column {@value #TEST}; on any file system that Spark knows
   * @throws IllegalArgumentException if there are none; the message says what is there
   */
  static TrainingImages of(SparkSession spark, String input) throws IOException {
    Path path = new Path(input);
    FileSystem files = path.getFileSystem(spark.sparkContext().hadoopConfiguration());
    FileStatus status;
    try {
      status = files.getFileStatus(path);
    } catch (FileNotFoundException e) {
      throw new IllegalArgumentException("no file or folder %s".formatted(input), e);
    }
    if (status.isFile()) {
      return isParquet(files, path)
          ? parquet(spark, input)
          : idx(spark, input, read(spark, path), List.of());
    }
    Optional<Path> training = mnist(files, path, "train-images");
    if (training.isEmpty()) {
      return parquet(spark, input);
    }
    Optional<Path> tests = mnist(files, path, "t10k-images");
    return idx(
        spark,
        input,
        read(spark, training.get()),
        tests.isPresent() ? read(spark, tests.get()) : List.of());
  }

  private static boolean isParquet(FileSystem files, Path path) throws IOException {
    try (InputStream in = files.open(path)) {
      return Arrays.equals(in.readNBytes(PARQUET.length), PARQUET);
    }
  }

  private static Optional<Path> mnist(FileSystem files, Path folder, String begin)
      throws IOException {
    return Arrays.stream(files.listStatus(folder))
        .map(FileStatus::getPath)
        .filter(file -> file.getName().startsWith(begin) && file.getName().contains("idx3"))
        .findFirst();
  }

  /** Returns the images of an IDX file, on the driver: their checksums are an oracle. */
  private static List<byte[]> read(SparkSession spark, Path path) {
    Dataset<Row> array =
        spark.read().format("idx").option(FormatOptionKeys.LABELS, "none").load(path.toString());
    if (!array.schema().apply(0).dataType().equals(DataTypes.BinaryType)) {
      throw new IllegalArgumentException(
          "%s has no images of bytes: give a file as train-images-idx3-ubyte of MNIST"
              .formatted(path));
    }
    checkSizes(array.select(functions.length(array.col(array.columns()[0]))), path.toString());
    return array.as(Encoders.BINARY()).collectAsList();
  }

  /**
   * @param tests images to test with; if empty, the last seventh of {@code training}
   */
  private static TrainingImages idx(
      SparkSession spark, String input, List<byte[]> training, List<byte[]> tests) {
    List<byte[]> images = new ArrayList<>(training);
    images.addAll(tests);
    int firstTest = tests.isEmpty() ? firstTest(images.size()) : training.size();
    checkBothKinds(images.size(), images.size() - firstTest, input);
    List<Row> rows = new ArrayList<>();
    for (byte[] image : images) {
      rows.add(RowFactory.create(image, rows.size() >= firstTest));
    }
    StructType schema =
        new StructType()
            .add(IMAGE, DataTypes.BinaryType, false)
            .add(TEST, DataTypes.BooleanType, false);
    return new TrainingImages(
        spark.createDataFrame(rows, schema),
        images.stream().mapToInt(TrainingImages::checksum).toArray());
  }

  private static TrainingImages parquet(SparkSession spark, String input) {
    Dataset<Row> files = openParquet(spark, input);
    StructType schema = files.schema();
    List<String> names = List.of(schema.fieldNames());
    if (!names.contains(IMAGE) || !schema.apply(IMAGE).dataType().equals(DataTypes.BinaryType)) {
      throw new IllegalArgumentException(
          "%s has the columns %s: give a binary column \"%s\" of %d bytes"
              .formatted(input, schema.simpleString(), IMAGE, Layer.PIXELS));
    }
    Column image = functions.col(IMAGE);
    checkSizes(files.select(functions.length(image)), input);
    if (names.contains(TEST) && !schema.apply(TEST).dataType().equals(DataTypes.BooleanType)) {
      throw new IllegalArgumentException(
          "%s has a column \"%s\" of type %s: give a boolean column, or none"
              .formatted(input, TEST, schema.apply(TEST).dataType().simpleString()));
    }
    Column test =
        names.contains(TEST)
            ? functions.col(TEST)
            : functions.pmod(functions.hash(image), functions.lit(TEST_SHARE)).equalTo(0);
    int[] checksums =
        files
            .orderBy("_metadata.file_path", "_metadata.row_index")
            .select(functions.crc32(image))
            .collectAsList()
            .stream()
            .mapToInt(row -> (int) row.getLong(0))
            .toArray();
    Dataset<Row> rows = files.select(image, test.as(TEST));
    if (!rows.where(functions.col(TEST).isNull()).isEmpty()) {
      throw new IllegalArgumentException(
          "%s has rows without a value in the column \"%s\": give true or false"
              .formatted(input, TEST));
    }
    checkBothKinds(checksums.length, rows.where(TEST).count(), input);
    return new TrainingImages(rows, checksums);
  }

  private static Dataset<Row> openParquet(SparkSession spark, String input) {
    try {
      return spark.read().parquet(input);
    } catch (Exception e) { // Spark throws checked exceptions that it does not declare
      throw new IllegalArgumentException(
          "%s has no readable Parquet files and no IDX files: give Parquet with a binary column \"%s\", or MNIST's IDX files"
              .formatted(input, IMAGE),
          e);
    }
  }

  private static void checkBothKinds(long images, long tests, String input) {
    if (tests == 0 || tests == images) {
      throw new IllegalArgumentException(
          "%s has %,d training and %,d test images: give at least one of each"
              .formatted(input, images - tests, tests));
    }
  }

  private static void checkSizes(Dataset<Row> lengths, String input) {
    List<Row> wrong =
        lengths.toDF("bytes").where("bytes is null or bytes <> " + Layer.PIXELS).takeAsList(1);
    if (wrong.isEmpty()) {
      return;
    }
    if (wrong.get(0).isNullAt(0)) {
      throw new IllegalArgumentException(
          "%s has a row without an image: remove the row, or give %d bytes"
              .formatted(input, Layer.PIXELS));
    }
    throw new IllegalArgumentException(
        "%s has an image of %s bytes, the network takes %d (%d x %d): scale the images"
            .formatted(input, wrong.get(0).get(0), Layer.PIXELS, Layer.SIDE, Layer.SIDE));
  }
}

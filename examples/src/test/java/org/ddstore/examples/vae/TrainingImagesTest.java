// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.ddstore.formats.FormatException;
import org.ddstore.spark.DDStores;
import org.ddstore.spark.RankContext;
import org.ddstore.types.DType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainingImagesTest {
  private static SparkSession spark;

  @TempDir private Path folder;

  @BeforeAll
  static void start() {
    spark =
        SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  private static TrainingImages of(Path path) throws IOException {
    return TrainingImages.of(spark, path.toString());
  }

  private static void assertRefused(Path path, String... words) {
    assertThatThrownBy(() -> of(path))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(words);
  }

  /** Returns the checksum of each image as the store delivers it, by global index. */
  private static int[] stored(Dataset<Row> frame) {
    return DDStores.from(frame)
        .field(TrainingImages.IMAGE, DType.UINT8, Layer.SIDE, Layer.SIDE)
        .ranks(2)
        .run(TrainingImagesTest::checksums)
        .get(0);
  }

  private static int[] checksums(RankContext rank) {
    int[] checksums = new int[(int) rank.rows().rows()];
    try (Reader reader = rank.rows().reader(TrainingImages.IMAGE)) {
      for (int row = 0; row < checksums.length; row++) {
        try (Batch batch = reader.getBatch(row)) {
          checksums[row] = TrainingImages.checksum(batch.field(TrainingImages.IMAGE).toByteArray());
        }
      }
    }
    rank.communicator().barrier();
    return checksums;
  }

  private static long tests(TrainingImages source) {
    return source.frame().where(TrainingImages.TEST).count();
  }

  @Test
  void generatedImagesAreInTheStoreAtTheirNumber() {
    TrainingImages source = TrainingImages.generated(spark, 140);

    assertThat(source.checksums()).hasSize(140).isEqualTo(stored(source.frame()));
    assertThat(source.checksums()[7]).isEqualTo(TrainingImages.checksum(DigitImages.image(7)));
    assertThat(tests(source)).isEqualTo(20);
  }

  @Test
  void readsIdxFiles() throws IOException {
    Path packed = folder.resolve("train-images-idx3-ubyte.gz");
    Files.write(packed, packed(file(0x803, 70, 28, 28)));

    TrainingImages one = of(packed);
    assertThat(one.checksums()).hasSize(70).isEqualTo(stored(one.frame()));
    assertThat(tests(one)).isEqualTo(10);
    assertThat(tests(of(folder))).isEqualTo(10);

    Files.write(folder.resolve("t10k-images-idx3-ubyte"), file(0x803, 15, 28, 28));
    TrainingImages both = of(folder);
    assertThat(both.checksums()).hasSize(85).isEqualTo(stored(both.frame()));
    assertThat(tests(both)).isEqualTo(15);
  }

  @Test
  void readsParquet() throws IOException {
    TrainingImages generated = TrainingImages.generated(spark, 200);
    Path marked = folder.resolve("marked");
    generated.frame().repartition(3).write().parquet(marked.toString());
    TrainingImages source = of(marked);
    assertThat(source.checksums()).isEqualTo(stored(source.frame()));
    assertThat(sorted(source.checksums())).isEqualTo(sorted(generated.checksums()));
    assertThat(tests(source)).isEqualTo(28);

    Path unmarked = folder.resolve("unmarked");
    generated.frame().select(TrainingImages.IMAGE).write().parquet(unmarked.toString());
    assertThat(tests(of(unmarked))).isBetween(10L, 60L);
  }

  private static int[] sorted(int... numbers) {
    Arrays.sort(numbers);
    return numbers;
  }

  @Test
  void namesWhatIsWrongWithAnInput() throws IOException {
    assertRefused(folder.resolve("none"), "no file or folder", "none");
    Path labels = Files.write(folder.resolve("labels"), Arrays.copyOf(file(0x801, 8, 1, 1), 16));
    assertRefused(labels, "labels has no images of bytes: give a file as train-images-idx3-ubyte");
    Path large = Files.write(folder.resolve("large"), file(0x803, 2, 32, 30));
    assertRefused(large, "large has an image of 960 bytes, the network takes 784 (28 x 28)");
    Path cut = folder.resolve("cut");
    Files.write(cut, Arrays.copyOf(file(0x803, 2, 28, 28), 1000));
    assertThatThrownBy(() -> of(cut)).isInstanceOf(FormatException.class);
    Path other = folder.resolve("other");
    spark.range(3).selectExpr("id").write().parquet(other.toString());
    assertRefused(other, "other has the columns", "id", "binary column \"image\" of 784 bytes");
    Path small = folder.resolve("small");
    spark.sql("select unhex('0102') as image").write().parquet(small.toString());
    assertRefused(small, "small has an image of 2 bytes, the network takes 784 (28 x 28)");
    Path few = Files.write(folder.resolve("few"), file(0x803, 6, 28, 28));
    assertRefused(few, "few has 6 training and 0 test images: give at least one of each");
    assertRefused(
        marked("text", "'yes'"), "has a column \"test\" of type string: give a boolean column");
    assertRefused(
        marked("unknown", "if(id = 1, null, true)"),
        "has rows without a value in the column \"test\"");
    assertRefused(marked("tests", "true"), "has 0 training and 3 test images");
    Path nothing = Files.createDirectory(folder.resolve("nothing"));
    String remedy =
        " has no readable Parquet files and no IDX files: give Parquet with a binary column"
            + " \"image\", or MNIST's IDX files";
    assertThatThrownBy(() -> of(nothing)).hasMessage(nothing + remedy);
    Path text = Files.createDirectory(folder.resolve("words"));
    Files.writeString(text.resolve("words.txt"), "no image");
    assertThatThrownBy(() -> of(text)).hasMessage(text + remedy);
    Path missing = folder.resolve("missing");
    spark.sql("select cast(null as binary) as image").write().parquet(missing.toString());
    assertRefused(missing, "missing has a row without an image: remove the row, or give 784 bytes");
  }

  /** Returns an IDX file of generated images. */
  private static byte[] file(int magic, int images, int rows, int columns) {
    ByteBuffer file = ByteBuffer.allocate(16 + images * rows * columns);
    file.putInt(magic).putInt(images).putInt(rows).putInt(columns);
    for (int i = 0; i < images; i++) {
      file.put(Arrays.copyOf(DigitImages.image(i), rows * columns));
    }
    return file.array();
  }

  private static byte[] packed(byte... file) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(file);
    }
    return bytes.toByteArray();
  }

  private Path marked(String name, String test) {
    Path path = folder.resolve(name);
    spark
        .range(3)
        .selectExpr("cast(repeat('a', 784) as binary) as image", test + " as test")
        .write()
        .parquet(path.toString());
    return path;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.Tensor;
import org.ddstore.memory.GrowingBuffer;
import org.ddstore.memory.ValueCast;
import org.ddstore.sampling.Crop;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Conversion of fields between the store and the consumer, compared with plain loops. */
@Timeout(120)
class ConversionTest extends OnSamples {
  private Loader open(Sampler sampler, LoaderOptions options) {
    return Loader.open(samples.rows(), sampler.batchSize(16), ALONE, options);
  }

  @Test
  void castsBytesToScaledFloatsAndFloatsToBfloat16() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .cast("image", DType.FLOAT32, 1 / 255.0)
            .cast("value", DType.BFLOAT16);
    try (Loader loader = open(Samplers.shuffled(1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        Tensor image = batch.field("image");
        Tensor value = batch.field("value");
        assertThat(image).hasToString("float32[16, 6, 5, 3]");
        assertThat(value).hasToString("bfloat16[16, 4]");
        short[] halves = value.toShortArray();
        for (int i = 0; i < 16; i++) {
          int row = (int) batch.row(i);
          byte[] bytes = Samples.image(row);
          for (int k = 0; k < 90; k++) {
            assertThat(image.getFloat(90L * i + k))
                .isEqualTo((bytes[k] & 0xFF) * (float) (1 / 255.0));
          }
          for (int k = 0; k < 4; k++) {
            assertThat(halves[4 * i + k]).isEqualTo(nearestBfloat16(Samples.value(row)[k]));
          }
        }
      }
    }
  }

  private static short nearestBfloat16(float value) {
    int below = Float.floatToRawIntBits(value) & 0xFFFF0000;
    int above = below + 0x10000;
    double toBelow = Math.abs((double) value - Float.intBitsToFloat(below));
    double toAbove = Math.abs((double) Float.intBitsToFloat(above) - value);
    boolean up = toAbove < toBelow || (toAbove == toBelow && (below >>> 16 & 1) == 1);
    return (short) ((up ? above : below) >>> 16);
  }

  @Test
  void bfloat16RoundsToEvenAndKeepsNaN() {
    assertThat(ValueCast.bfloat16(Float.POSITIVE_INFINITY)).isEqualTo((short) 0x7F80);
    assertThat(ValueCast.bfloat16(Float.NEGATIVE_INFINITY)).isEqualTo((short) 0xFF80);
    assertThat(ValueCast.bfloat16(Float.MAX_VALUE)).isEqualTo((short) 0x7F80);
    assertThat(ValueCast.bfloat16(-0f)).isEqualTo((short) 0x8000);
    assertThat(ValueCast.bfloat16(Float.intBitsToFloat(0x3F808000))).isEqualTo((short) 0x3F80);
    assertThat(ValueCast.bfloat16(Float.intBitsToFloat(0x3F818000))).isEqualTo((short) 0x3F82);
    for (int nan : new int[] {0x7F800001, 0x7FC00000, 0xFFFFFFFF}) {
      assertThat(Float.intBitsToFloat(ValueCast.bfloat16(Float.intBitsToFloat(nan)) << 16)).isNaN();
    }
  }

  /** Over more than one block, and each type by the conversion of the language. */
  @Test
  void castsEveryTypeAsJavaDoes() {
    int n = 5000;
    byte[] bytes = new byte[n];
    short[] shorts = new short[n];
    int[] ints = new int[n];
    double[] doubles = new double[n];
    new java.util.Random(1).nextBytes(bytes);
    for (int i = 0; i < n; i++) {
      shorts[i] = (short) (bytes[i] * 251);
      ints[i] = bytes[i] * 7_654_321;
      doubles[i] = bytes[i] / 3.0;
    }
    try (GrowingBuffer memory = new GrowingBuffer()) {
      for (DType from : List.of(DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.FLOAT64)) {
        Tensor in = direct(from, n, bytes, shorts, ints, doubles);
        float[] out =
            new Cast(new ValueCast(from, DType.FLOAT32, 2)).apply(in, null, memory).toFloatArray();
        for (int i = 0; i < n; i++) {
          float expected =
              switch (from) {
                case INT8 -> bytes[i];
                case UINT8 -> bytes[i] & 0xFF;
                case INT16 -> shorts[i];
                case INT32 -> ints[i];
                default -> (float) doubles[i];
              };
          assertThat(out[i]).as("%s of %s", i, from).isEqualTo(2 * expected);
        }
      }
    }
  }

  private static Tensor direct(
      DType type, int n, byte[] bytes, short[] shorts, int[] ints, double[] doubles) {
    java.nio.ByteBuffer memory =
        java.nio.ByteBuffer.allocateDirect(n * type.bytes())
            .order(java.nio.ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < n; i++) {
      switch (type) {
        case INT8, UINT8 -> memory.put(i, bytes[i]);
        case INT16 -> memory.putShort(2 * i, shorts[i]);
        case INT32 -> memory.putInt(4 * i, ints[i]);
        default -> memory.putDouble(8 * i, doubles[i]);
      }
    }
    return Tensor.wrap(type, memory, n);
  }

  @Test
  void deliversRaggedFieldsCompressedPaddedOrDense() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .pad("points", 0)
            .densify("values", "columns", Samples.WIDTH)
            .cast("values", DType.FLOAT32, 0.5);
    try (Loader plain = open(Samplers.shuffled(1), LoaderOptions.defaults());
        Loader dense = open(Samplers.shuffled(1), options)) {
      EpochLoop other = plain.epoch(0);
      for (LoadedBatch batch : dense.epoch(0)) {
        LoadedBatch sparse = other.next();
        long longest = 0;
        long total = 0;
        for (int i = 0; i < 16; i++) {
          longest = Math.max(longest, batch.row(i) % 5);
          assertThat(sparse.offsets("points").getLong(i)).isEqualTo(total);
          assertThat(batch.offsets("points").getLong(i)).isEqualTo(total);
          total += batch.row(i) % 5;
        }
        assertThat(sparse.field("points").shape()).containsExactly(total, 2);
        assertThat(batch.field("points").shape()).containsExactly(16, longest, 2);
        assertThat(batch.field("values")).hasToString("float32[16, 20]");
        for (int i = 0; i < 16; i++) {
          assertRow(batch, i, (int) longest);
        }
      }
    }
  }

  private static void assertRow(LoadedBatch batch, int i, int longest) {
    int row = (int) batch.row(i);
    float[] points = Samples.points(row);
    for (int k = 0; k < 2 * longest; k++) {
      assertThat(batch.field("points").getFloat(2L * longest * i + k))
          .isEqualTo(k < points.length ? points[k] : 0);
    }
    assertDense(batch, i);
  }

  private static void assertDense(LoadedBatch batch, int i) {
    int row = (int) batch.row(i);
    float[] expected = new float[Samples.WIDTH];
    for (int k = 0; k < Samples.columns(row).length; k++) {
      expected[Samples.columns(row)[k]] = (float) Samples.values(row)[k] * 0.5f;
    }
    for (int k = 0; k < Samples.WIDTH; k++) {
      assertThat(batch.field("values").getFloat((long) Samples.WIDTH * i + k))
          .isEqualTo(expected[k]);
    }
  }

  @Test
  void castsRaggedFieldsAndKeepsThemCompressed() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .cast("points", DType.BFLOAT16)
            .cast("columns", DType.FLOAT32, 0.25)
            .cast("values", DType.FLOAT32);
    int seen = 0;
    try (Loader loader = open(Samplers.shuffled(1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        short[] points = batch.field("points").toShortArray();
        int point = 0;
        int value = 0;
        for (int i = 0; i < batch.rows(); i++) {
          int row = (int) batch.row(i);
          assertThat(2 * batch.offsets("points").getLong(i)).isEqualTo(point);
          for (float expected : Samples.points(row)) {
            assertThat(points[point++]).isEqualTo(nearestBfloat16(expected));
          }
          assertThat(batch.offsets("values").getLong(i)).isEqualTo(value);
          for (int k = 0; k < Samples.columns(row).length; k++) {
            assertThat(batch.field("columns").getFloat(value))
                .isEqualTo(Samples.columns(row)[k] * 0.25f);
            assertThat(batch.field("values").getFloat(value++))
                .isEqualTo((float) Samples.values(row)[k]);
          }
        }
        assertThat(batch.field("points").shape()).containsExactly(point / 2, 2);
        assertThat(batch.field("values")).hasToString("float32[%d]".formatted(value));
        seen += batch.rows();
      }
    }
    assertThat(seen).isGreaterThan(150);
  }

  @Test
  void lastCastOfAFieldWins() {
    LoaderOptions options =
        LoaderOptions.defaults()
            .cast("image", DType.BFLOAT16)
            .cast("image", DType.FLOAT32, 2)
            .cast("points", DType.FLOAT32, 3)
            .cast("points", DType.BFLOAT16)
            .pad("points", 4)
            .cast("values", DType.BFLOAT16)
            .densify("values", "columns", Samples.WIDTH)
            .cast("values", DType.FLOAT32, 0.5);
    try (Loader loader = open(Samplers.shuffled(1), options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        assertThat(batch.field("image")).hasToString("float32[16, 6, 5, 3]");
        assertThat(batch.field("points")).hasToString("bfloat16[16, 4, 2]");
        assertThat(batch.field("values")).hasToString("float32[16, 20]");
        short[] halves = batch.field("points").toShortArray();
        for (int i = 0; i < 16; i++) {
          byte[] bytes = Samples.image((int) batch.row(i));
          for (int k = 0; k < 90; k++) {
            assertThat(batch.field("image").getFloat(90L * i + k))
                .isEqualTo(2f * (bytes[k] & 0xFF));
          }
          float[] points = Samples.points((int) batch.row(i));
          for (int k = 0; k < 8; k++) {
            assertThat(halves[8 * i + k])
                .isEqualTo(nearestBfloat16(k < points.length ? points[k] : 0));
          }
          assertDense(batch, i);
        }
      }
    }
  }

  @Test
  void rejectsASecondShapeConversionOfAField() {
    refused(
        LoaderOptions.defaults().pad("points", 3).cast("points", DType.BFLOAT16).pad("points", 4),
        "\"points\" has 2 shape conversions, by [pad(\"points\", 3), pad(\"points\", 4)]: keep one of them");
    refused(
        LoaderOptions.defaults().pad("values", 6).densify("values", "columns", 20),
        "by [pad(\"values\", 6), densify(\"values\", \"columns\", 20)]: keep one of them");
  }

  @Test
  void cutsCropsAndTilesFromEachSample() {
    for (Sampler sampler :
        List.of(
            Samplers.randomCrops(7, Samplers.shuffled(1), Samples.IMAGE, 3, 4),
            Samplers.tiles(Samplers.shuffled(1), Samples.IMAGE, 4, 2),
            Samplers.overlappingTiles(
                Samplers.sequential(), Samples.IMAGE, new int[] {2, 2, 2}, 3, 1, 1))) {
      Crop crop = sampler.space().crop().orElseThrow();
      int[] box = crop.shape();
      try (Loader loader = open(sampler, LoaderOptions.defaults())) {
        for (LoadedBatch batch : loader.epoch(2)) {
          Tensor image = batch.field("image");
          assertThat(image.shape()).containsExactly(16, box[0], box[1], box[2]);
          byte[] cut = image.toByteArray();
          int at = 0;
          for (int i = 0; i < 16; i++) {
            byte[] whole = Samples.image((int) batch.row(i));
            int[] origin = new int[3];
            crop.origin(2, 16 * batch.number() + i, batch.sample(i), origin);
            for (int y = 0; y < box[0]; y++) {
              for (int x = 0; x < box[1]; x++) {
                for (int c = 0; c < box[2]; c++) {
                  int from = ((origin[0] + y) * 5 + origin[1] + x) * 3 + origin[2] + c;
                  assertThat(cut[at++]).isEqualTo(whole[from]);
                }
              }
            }
          }
        }
      }
    }
  }

  @Test
  void windowsAddADimension() {
    Sampler sampler = Samplers.windows(3, 2, 4, Samplers.shuffled(1));
    LoaderOptions options = LoaderOptions.defaults().cast("value", DType.BFLOAT16);
    try (Loader loader = open(sampler, options)) {
      for (LoadedBatch batch : loader.epoch(0)) {
        assertThat(batch.samples()).isEqualTo(16);
        assertThat(batch.rows()).isEqualTo(48);
        assertThat(batch.field("id").shape()).containsExactly(16, 3);
        assertThat(batch.field("image").shape()).containsExactly(16, 3, 6, 5, 3);
        assertThat(batch.field("value").shape()).containsExactly(16, 3, 4);
        assertThat(batch.offsets("points").shape()).containsExactly(49);
        for (int i = 0; i < 16; i++) {
          for (int k = 0; k < 3; k++) {
            assertThat(batch.field("id").getLong(3L * i + k))
                .isEqualTo(2 * batch.sample(i) + 4L * k);
          }
        }
      }
    }
  }

  /** 48 rows of 1,000 points of 8 bytes are made of 16 samples. */
  @Test
  void sizesPaddedWindowsByTheirRows() {
    LoaderOptions options =
        LoaderOptions.defaults().fields("points").pad("points", 1000).maxBytes(300_000);
    try (Loader loader = open(Samplers.windows(3, 2, 4, Samplers.shuffled(1)), options)) {
      assertThatThrownBy(() -> loader.epoch(0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("a batch of 16 samples takes 4[\\d,]{6} bytes, and .*");
    }
  }

  @Test
  void runsTheTransformOnAWorkerAndDeliversItsTensors() {
    List<Thread> threads = new ArrayList<>();
    LoaderOptions options =
        LoaderOptions.defaults()
            .transform(
                batch -> {
                  threads.add(Thread.currentThread());
                  Tensor twice = batch.allocate("twice", DType.INT64, batch.samples());
                  for (int i = 0; i < batch.samples(); i++) {
                    twice.asByteBuffer().putLong(8 * i, 2 * batch.row(i));
                  }
                  assertThatThrownBy(batch::close).isInstanceOf(IllegalStateException.class);
                });
    try (Loader loader = open(Samplers.shuffled(1), options.workers(1))) {
      for (LoadedBatch batch : loader.epoch(0)) {
        assertThat(batch.field("twice").asByteBuffer().alignmentOffset(0, 256)).isZero();
        for (int i = 0; i < 16; i++) {
          assertThat(batch.field("twice").getLong(i)).isEqualTo(2 * batch.row(i));
        }
      }
    }
    assertThat(threads).hasSize(12).doesNotContain(Thread.currentThread());
  }

  @Test
  void rejectsConversionsThatDoNotFitTheSchema() {
    refused(
        LoaderOptions.defaults().cast("id", DType.FLOAT32),
        "cannot cast int64 to float32: cast int8");
    refused(LoaderOptions.defaults().cast("image", DType.INT32), "cannot cast uint8 to int32");
    refused(LoaderOptions.defaults().pad("image", 3), "padding of image uint8[6, 5, 3] to 3");
    refused(
        LoaderOptions.defaults().densify("values", "id", 3), "densify of values float64[?] by id");
    refused(LoaderOptions.defaults().cast("nothing", DType.FLOAT32), "no field \"nothing\"");
    assertThatThrownBy(
            () ->
                open(
                    Samplers.tiles(Samplers.sequential(), Samples.IMAGE, 2),
                    LoaderOptions.defaults().fields("id")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the sampler cuts \"image\", which is not among the fields that are read: [id]");
    fails(
        LoaderOptions.defaults().pad("points", 3),
        "a row of points float32[?, 2] has length 4, above the padded length");
    fails(
        LoaderOptions.defaults().densify("values", "columns", 9),
        "of \"columns\" in row 3 outside");
    fails(
        LoaderOptions.defaults().densify("points", "columns", 9),
        "densify of points float32[?, 2]");
  }

  /** Row 3 is the first with a column that is too large: the fifth of the batch, in sample 1. */
  @Test
  void namesTheRowOfABadValueInAWindow() {
    LoaderOptions options =
        LoaderOptions.defaults().fields("values").densify("values", "columns", 9);
    try (Loader loader = open(Samplers.windows(3, 2, 1, Samplers.sequential()), options)) {
      EpochLoop loop = loader.epoch(0);
      assertThatThrownBy(loop::next)
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("column 9 of \"columns\" in row 3 outside [0, 9)");
    }
  }

  @Test
  void rejectsSampleNumbersOutOfRange() {
    long top = Long.MAX_VALUE / 2 + 2; // times the stride it is row 2 again
    noSample(Samplers.tiles(Samplers.sequential(), Samples.IMAGE, 3, 5), -1, "[0, 406): tiles(");
    noSample(Samplers.tiles(Samplers.sequential(), Samples.IMAGE, 3, 5), 406, "[0, 406): tiles(");
    noSample(Samplers.windows(3, 2, 4, Samplers.sequential()), -1, "[0, 98): windows(3, 2, 4) of ");
    noSample(
        Samplers.windows(3, 2, 4, Samplers.sequential()), top, "[0, 98): windows(3, 2, 4) of ");
    noSample(
        Samplers.randomCrops(7, Samplers.sequential(), Samples.IMAGE, 3, 4),
        -1,
        "[0, 203): crops(");
  }

  private void noSample(Sampler sampler, long sample, String message) {
    try (Loader loader = open(sampler, LoaderOptions.defaults())) {
      loader.push(List.of(2L, sample).iterator(), 2);
      assertThatThrownBy(() -> loader.pop(Duration.ofSeconds(60)))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageStartingWith(
              "sample %,d (number 1 of the batch) outside %s".formatted(sample, message))
          .hasMessageEndingWith(" of \"rows\"");
    }
  }

  private void refused(LoaderOptions options, String message) {
    assertThatThrownBy(() -> open(Samplers.sequential(), options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private void fails(LoaderOptions options, String message) {
    assertThatThrownBy(
            () -> {
              try (Loader loader = open(Samplers.sequential(), options)) {
                loader.epoch(0).forEach(batch -> {});
              }
            })
        .hasMessageContaining(message);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.apache.spark.sql.RowFactory;
import org.ddstore.Batch;
import org.ddstore.DDStore;
import org.ddstore.Reader;
import org.ddstore.ShardWriter;
import org.ddstore.StoreOptions;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.HeatMapChart;
import org.knowm.xchart.HeatMapChartBuilder;
import org.knowm.xchart.QuickChart;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

class RenderersTest {
  @Test
  void tablesAreTextAndEscapedHtml() {
    TextTable table =
        new TextTable(
            List.of(List.of("n<", "b")), List.of(List.of("1", "<b>&\"'</b>"), List.of("22", "")));
    assertThat(table.text()).isEqualTo("n<  b\n--  ----------\n1   <b>&\"'</b>\n22");
    assertThat(table.html())
        .contains("<th>n&lt;</th>", "<td>&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt;</td>")
        .doesNotContain("<b>");
  }

  @Test
  void schemaIsATable() {
    Schema schema =
        Schema.of(
            Field.fixed("image", DType.UINT8, 28, 28),
            Field.ragged("x", DType.FLOAT32),
            Field.string("text"));
    MimeBundle shown = Renderers.render(schema);
    assertThat(shown.text())
        .contains("image  uint8[28, 28]  784")
        .contains("x      float32[?]     varies");
    assertThat(shown.data()).containsKey("text/html");
  }

  @Test
  void batchIsATableOfFieldsWithTheShapesOfTheirRows() {
    List<Field> fields =
        List.of(
            Field.fixed("x", DType.FLOAT32, 2),
            Field.string("text"),
            Field.ragged("points", DType.INT32, 3),
            Field.bytes("raw"));
    StoreOptions options = StoreOptions.defaults().backing(Backing.DIRECT);
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(30)).get(0);
        DDStore store = DDStore.open(alone, options);
        ShardWriter shard = ShardWriter.create(Schema.of(fields), options)) {
      shard.append(new float[] {0, 1}, "first", new int[] {1, 2, 3, 4, 5, 6}, new byte[] {7});
      shard.append(new float[] {2, 3}, "second row", new int[0], new byte[] {8, 9});
      try (Reader reader = store.add("rows", shard).reader();
          Batch batch = reader.getBatch(1, 0, 1)) {
        MimeBundle shown = Renderers.render(batch);
        assertThat(shown.text().lines())
            .containsExactly(
                "field   type         shape      first values",
                "------  -----------  ---------  -----------------------------",
                "x       float32[2]   [3, 2]     2.0, 3.0, 0.0, 1.0, 2.0, 3.0",
                "text    string       [3, ?]     second row, first, second row",
                "points  int32[?, 3]  [3, ?, 3]  1, 2, 3, 4, 5, 6",
                "raw     bytes        [3, ?]     8, 9, 7, 8, 9",
                "3 rows");
        assertThat(shown.data().get("text/html"))
            .contains(
                "<td>text</td><td>string</td><td>[3, ?]</td><td>second row, first, second row</td>");
      }
    }
  }

  @Test
  void cutsLargeValuesAndSaysHowLargeTheyAre() {
    assertThat(ValueText.alone(Map.of("a", new int[] {1, 2}))).isEqualTo("{a=[1, 2]}");
    assertThat(ValueText.alone(List.of())).isEqualTo("[]");
    assertThat(ValueText.alone(List.of(1, List.of(2)))).isEqualTo("[1, [2]]");
    assertThat(ValueText.alone(new double[][] {{0.5}, {}})).isEqualTo("[[0.5], []]");
    assertThat(ValueText.alone(Collections.nCopies(1_000_000, 7)))
        .startsWith("[7, 7, ")
        .endsWith(".. (1,000,000 elements)");
    assertThat(ValueText.alone(new long[1_000_000])).endsWith(".. (1,000,000 elements)");
    assertThat(ValueText.alone("x".repeat(20_000))).endsWith("x.. (20,000 characters)");
  }

  @Test
  void valuesOfTablesAreShort() {
    assertThat(ValueText.inTable(new byte[784])).isEqualTo("0000000000000000.. (784 bytes)");
    assertThat(ValueText.inTable("x".repeat(100))).hasSize(82).endsWith("..");
    assertThat(ValueText.inTable(RowFactory.create(1, null, "a"))).isEqualTo("{1, null, a}");
    assertThat(
            ValueText.inTable(
                scala.jdk.javaapi.CollectionConverters.asScala(
                    IntStream.range(0, 9).boxed().toList())))
        .isEqualTo("[0, 1, 2, 3, 4, 5, .. (9)]");
  }

  @Test
  void otherValuesAreText() {
    assertThat(Renderers.render(null).text()).isEqualTo("null");
    assertThat(Renderers.render(List.of(1, 2)).text()).isEqualTo("[1, 2]");
    assertThat(Renderers.render(Map.of("a", 1)).text()).isEqualTo("{a=1}");
    assertThat(Renderers.render(new int[][] {{1}, {2, 3}}).text()).isEqualTo("[[1], [2, 3]]");
    assertThat(Renderers.render("<b>").data()).containsOnlyKeys("text/plain");
    assertThat(Renderers.render(IntStream.range(0, 1_000_000).boxed().toList()).text())
        .startsWith("[0, 1,")
        .hasSizeLessThan(10_100);
  }

  @Test
  void chartsAndImagesArePictures() throws Exception {
    Path home = Path.of(System.getProperty("user.home"), ".java", "fonts");
    boolean hadFonts = Files.exists(home);
    MimeBundle chart =
        Renderers.render(
            QuickChart.getChart(
                "Loss", "epoch", "loss", "vae", new double[] {1, 2}, new double[] {3, 1}));
    assertThat(chart.text()).isEqualTo("XYChart \"Loss\"");
    assertThat(chart.data().get("image/svg+xml")).contains("<svg").endsWith("</svg>\n");
    assertThat(png(chart)).startsWith(137, 'P', 'N', 'G');
    assertThat(Files.exists(home)).as("files in the home of the user").isEqualTo(hadFonts);

    XYChart part = new XYChartBuilder().width(300).height(200).title("Left").build();
    part.addSeries("line", new double[] {1, 2});
    MimeBundle row = Renderers.render(List.of(part, part));
    assertThat(row.text()).isEqualTo("charts \"Left\", \"Left\"");
    assertThat(row.data()).containsOnlyKeys("text/plain", "image/png");
    BufferedImage both = ImageIO.read(new ByteArrayInputStream(png(row)));
    assertThat(new int[] {both.getWidth(), both.getHeight()}).containsExactly(600, 200);
    assertThat(both.getRGB(1, 1)).isEqualTo(part.getStyler().getChartBackgroundColor().getRGB());
    assertThat(both.getColorModel()).isInstanceOf(IndexColorModel.class);

    MimeBundle image = Renderers.render(new BufferedImage(4, 3, BufferedImage.TYPE_INT_RGB));
    assertThat(image.text()).isEqualTo("image of 4 x 3 pixels");
    assertThat(png(image)).startsWith(137, 'P', 'N', 'G');
  }

  @Test
  void heatMapsKeepTheirColours() throws Exception {
    HeatMapChart map = new HeatMapChartBuilder().width(300).height(300).build();
    int[] places = IntStream.range(0, 50).toArray();
    int[][] values =
        IntStream.of(places)
            .mapToObj(x -> IntStream.of(places).map(y -> x * 50 + y).toArray())
            .toArray(int[][]::new);
    map.addSeries("sum", places, places, values);
    map.getStyler().setRangeColors(new Color[] {Color.BLUE, Color.YELLOW});
    BufferedImage expected = BitmapEncoder.getBufferedImage(map);
    BufferedImage shown =
        ImageIO.read(new ByteArrayInputStream(png(Renderers.render(List.of(map)))));
    for (int x = 0; x < 300; x++) {
      for (int y = 0; y < 300; y++) {
        assertThat(shown.getRGB(x, y))
            .as("colour at %d, %d", x, y)
            .isEqualTo(expected.getRGB(x, y));
      }
    }
  }

  private static byte[] png(MimeBundle shown) {
    return Base64.getDecoder().decode(shown.data().get("image/png"));
  }
}

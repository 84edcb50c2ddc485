// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.apache.spark.sql.Dataset;
import org.ddstore.Batch;
import org.ddstore.spark.ResidentStore;
import org.ddstore.types.Schema;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.HeatMapChart;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.internal.chartpart.Chart;

/** The forms in which values are shown. */
public final class Renderers {
  private static final String PNG = "image/png";
  private static final String SVG = "image/svg+xml";

  private Renderers() {}

  /** Returns the forms of a value. Runs a Spark job if it is a DataFrame. */
  public static MimeBundle render(Object value) {
    if (value instanceof MimeBundle bundle) {
      return bundle;
    } else if (value instanceof Dataset<?> frame) {
      return DatasetView.render(frame);
    } else if (value instanceof ResidentStore store) {
      return StoreView.render(store);
    } else if (value instanceof Batch batch) {
      return BatchView.render(batch);
    } else if (value instanceof Schema schema) {
      return StoreView.render(schema);
    } else if (value instanceof Chart<?, ?> chart) {
      return chart(chart);
    } else if (value instanceof List<?> list && !list.isEmpty() && areCharts(list)) {
      return charts(list.stream().<Chart<?, ?>>map(chart -> (Chart<?, ?>) chart).toList());
    } else if (value instanceof BufferedImage image) {
      return image(image);
    }
    return MimeBundle.text(ValueText.alone(value));
  }

  private static MimeBundle chart(Chart<?, ?> chart) {
    FontCache.avoid();
    String text = "%s \"%s\"".formatted(chart.getClass().getSimpleName(), chart.getTitle());
    try (ByteArrayOutputStream svg = new ByteArrayOutputStream()) {
      VectorGraphicsEncoder.saveVectorGraphic(
          chart, svg, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
      return MimeBundle.text(text)
          .with(PNG, BitmapEncoder.getBitmapBytes(chart, BitmapEncoder.BitmapFormat.PNG))
          .with(SVG, svg.toString(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean areCharts(List<?> list) {
    return list.stream().allMatch(Chart.class::isInstance);
  }

  /** Returns one image with the charts side by side. */
  private static MimeBundle charts(List<Chart<?, ?>> charts) {
    FontCache.avoid();
    String text =
        charts.stream()
            .map(chart -> "\"%s\"".formatted(chart.getTitle()))
            .collect(Collectors.joining(", ", "charts ", ""));
    try (ByteArrayOutputStream png = new ByteArrayOutputStream()) {
      BitmapEncoder.saveBitmap(charts, 1, charts.size(), png, BitmapEncoder.BitmapFormat.PNG);
      BufferedImage image = ImageIO.read(new ByteArrayInputStream(png.toByteArray()));
      boolean isShaded = charts.stream().anyMatch(HeatMapChart.class::isInstance);
      return image(text, isShaded ? image : FewColours.of(image));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static MimeBundle image(BufferedImage image) {
    return image("image of %d x %d pixels".formatted(image.getWidth(), image.getHeight()), image);
  }

  private static MimeBundle image(String text, BufferedImage image) {
    try (ByteArrayOutputStream png = new ByteArrayOutputStream()) {
      ImageIO.write(image, "png", png);
      return MimeBundle.text(text).with(PNG, png.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

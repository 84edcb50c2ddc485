// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.apache.spark.sql.classic.Dataset;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.internal.chartpart.Chart;

/**
 * A value as front ends show it.
 *
 * @param text plain text
 * @param png a picture in base64, for charts and images
 */
public record Shown(String text, Optional<String> png) {
  private static final int MAX_ROWS = 20;
  private static final int MAX_CELL_CHARACTERS = 40;
  private static final int MAX_CHARACTERS = 10_000;

  /** Returns the form of a value. Runs a Spark job if it is a DataFrame. */
  static Shown of(Object value) {
    if (value instanceof Dataset<?> frame) {
      String table = frame.showString(MAX_ROWS, MAX_CELL_CHARACTERS, false);
      return new Shown(table.strip(), Optional.empty());
    } else if (value instanceof Chart<?, ?> chart) {
      return picture(chart.getTitle(), BitmapEncoder.getBufferedImage(chart));
    } else if (value instanceof BufferedImage image) {
      return picture("image of %d x %d".formatted(image.getWidth(), image.getHeight()), image);
    }
    String boxed = Arrays.deepToString(new Object[] {value}); // primitive arrays, too
    String text = boxed.substring(1, boxed.length() - 1);
    return new Shown(
        text.length() <= MAX_CHARACTERS
            ? text
            : "%s.. (%,d characters)".formatted(text.substring(0, MAX_CHARACTERS), text.length()),
        Optional.empty());
  }

  private static Shown picture(String text, BufferedImage image) {
    try (ByteArrayOutputStream png = new ByteArrayOutputStream()) {
      ImageIO.write(image, "png", png);
      String base64 = Base64.getEncoder().encodeToString(png.toByteArray());
      return new Shown(text, Optional.of(base64));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

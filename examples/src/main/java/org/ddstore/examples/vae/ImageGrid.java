// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;

/** Writes images of {@value Layer#SIDE} x {@value Layer#SIDE} pixels as one grey PNG. */
final class ImageGrid {
  private static final int GAP = 2;
  private static final int CELL = Layer.SIDE + GAP;
  private static final int ZOOM = 2;
  private static final int PAPER = 255;

  private ImageGrid() {}

  /**
   * Writes a grid, row by row, dark on light.
   *
   * @param images each {@value Layer#PIXELS} bytes, from 0 (paper) to 255 (ink)
   * @param columns images in a row
   */
  static void write(Path file, List<byte[]> images, int columns) throws IOException {
    int rows = (images.size() + columns - 1) / columns;
    BufferedImage grid =
        new BufferedImage(
            (columns * CELL + GAP) * ZOOM,
            (rows * CELL + GAP) * ZOOM,
            BufferedImage.TYPE_BYTE_GRAY);
    for (int y = 0; y < grid.getHeight(); y++) {
      for (int x = 0; x < grid.getWidth(); x++) {
        grid.getRaster().setSample(x, y, 0, PAPER - ink(images, columns, x / ZOOM, y / ZOOM));
      }
    }
    ImageIO.setUseCache(false);
    try (OutputStream out = Files.newOutputStream(file)) {
      if (!ImageIO.write(grid, "png", out)) {
        throw new IOException("no writer of PNG in this Java");
      }
    }
  }

  private static int ink(List<byte[]> images, int columns, int x, int y) {
    int insideX = x % CELL - GAP;
    int insideY = y % CELL - GAP;
    int column = x / CELL;
    int image = y / CELL * columns + column;
    if (insideX < 0 || insideY < 0 || column >= columns || image >= images.size()) {
      return 0;
    }
    return images.get(image)[insideY * Layer.SIDE + insideX] & 0xFF;
  }
}

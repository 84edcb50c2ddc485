// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageGridTest {
  private static final int CELL = 60;

  @TempDir private Path folder;

  /** Checks that a cell of the grid shows an image, at twice its size. */
  private static void assertShows(BufferedImage grid, int column, int row, byte... image) {
    for (int y = 0; y < Layer.SIDE; y++) {
      for (int x = 0; x < Layer.SIDE; x++) {
        assertThat(grid.getRaster().getSample(column * CELL + 4 + 2 * x, row * CELL + 5 + 2 * y, 0))
            .as("pixel %d, %d of image %d, %d", x, y, column, row)
            .isEqualTo(255 - (image[y * Layer.SIDE + x] & 0xFF));
      }
    }
  }

  @Test
  void reconstructionsAreBelowTheirOriginals() throws IOException {
    List<byte[]> originals = images(0, 20);
    List<byte[]> reconstructions = images(20, 40);

    List<Path> files = new Pictures(originals, reconstructions, images(40, 45)).write(folder);

    BufferedImage pairs = ImageIO.read(files.get(0).toFile());
    assertShows(pairs, 3, 0, DigitImages.image(3));
    assertShows(pairs, 3, 1, DigitImages.image(23));
    assertShows(pairs, 9, 2, DigitImages.image(19));
    assertShows(pairs, 9, 3, DigitImages.image(39));
    assertShows(ImageIO.read(files.get(1).toFile()), 4, 0, DigitImages.image(44));
  }

  @Test
  void incompleteRowsAreDrawn() throws IOException {
    List<Path> files = new Pictures(images(0, 13), images(20, 33), images(40, 43)).write(folder);

    BufferedImage pairs = ImageIO.read(files.get(0).toFile());
    assertThat(pairs.getHeight()).isEqualTo(4 * CELL + 4);
    assertShows(pairs, 9, 1, DigitImages.image(29));
    assertShows(pairs, 2, 2, DigitImages.image(12));
    assertShows(pairs, 3, 2, new byte[Layer.PIXELS]);
    assertShows(pairs, 2, 3, DigitImages.image(32));
    assertShows(pairs, 9, 3, new byte[Layer.PIXELS]);
  }

  private static List<byte[]> images(int from, int to) {
    return IntStream.range(from, to).mapToObj(DigitImages::image).toList();
  }
}

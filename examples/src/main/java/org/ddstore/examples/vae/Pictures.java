// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Images that a trained network has made, {@value Layer#PIXELS} bytes each.
 *
 * @param originals test images
 * @param reconstructions the same, encoded and decoded
 * @param samples images of random codes
 */
record Pictures(List<byte[]> originals, List<byte[]> reconstructions, List<byte[]> samples)
    implements Serializable {
  static final Pictures NONE = new Pictures(List.of(), List.of(), List.of());

  private static final int COLUMNS = 10;

  /** Returns images of values in [0, 1]. */
  static List<byte[]> cut(float... values) {
    List<byte[]> images = new ArrayList<>();
    for (int from = 0; from < values.length; from += Layer.PIXELS) {
      byte[] image = new byte[Layer.PIXELS];
      for (int i = 0; i < image.length; i++) {
        image[i] = (byte) Math.round(255 * values[from + i]);
      }
      images.add(image);
    }
    return images;
  }

  /**
   * Writes two PNGs: {@code reconstructions.png}, in which each row of originals is above the row
   * of their reconstructions, and {@code samples.png}. An incomplete row ends with empty cells.
   *
   * @return the files
   */
  List<Path> write(Path folder) throws IOException {
    List<byte[]> pairs = new ArrayList<>();
    for (int from = 0; from < originals.size(); from += COLUMNS) {
      pairs.addAll(row(originals, from));
      pairs.addAll(row(reconstructions, from));
    }
    Path reconstructed = folder.resolve("reconstructions.png");
    Path sampled = folder.resolve("samples.png");
    ImageGrid.write(reconstructed, pairs, COLUMNS);
    ImageGrid.write(sampled, samples, COLUMNS);
    return List.of(reconstructed, sampled);
  }

  private static List<byte[]> row(List<byte[]> images, int from) {
    List<byte[]> row =
        new ArrayList<>(images.subList(from, Math.min(from + COLUMNS, images.size())));
    row.addAll(Collections.nCopies(COLUMNS - row.size(), new byte[Layer.PIXELS]));
    return row;
  }
}

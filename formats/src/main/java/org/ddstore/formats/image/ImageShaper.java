// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.image.ImageOptions.Mode;
import org.ddstore.formats.image.ImageOptions.Size;

/** Brings images to the size of the options. */
final class ImageShaper {
  private ImageShaper() {}

  /**
   * Returns an image of the size.
   *
   * @param size wanted height and width
   * @throws FormatException if a part is to be cut out of a smaller image
   */
  static Pixels shape(InputFile file, Pixels image, Size size, ImageOptions options) {
    requireCovers(file, image, options);
    return switch (options.mode()) {
      case RESIZE -> BilinearScaler.scale(image, size.height(), size.width());
      case CROP -> centre(image, size);
      case FIT -> centre(cover(image, size), size);
    };
  }

  static void requireCovers(InputFile file, Pixels image, ImageOptions options) {
    Size size = options.size().orElse(new Size(image.height(), image.width()));
    if (options.mode() == Mode.CROP
        && (image.height() < size.height() || image.width() < size.width())) {
      throw new FormatException(
          file.path(),
          "%d x %d pixels are fewer than the %d x %d to be cut out: set option \"%s\" to fit or resize"
              .formatted(
                  image.height(),
                  image.width(),
                  size.height(),
                  size.width(),
                  FormatOptionKeys.MODE));
    }
  }

  /** Scales in proportion: one side is as wanted, the other at least so. */
  private static Pixels cover(Pixels image, Size size) {
    double scale =
        Math.max((double) size.height() / image.height(), (double) size.width() / image.width());
    int height = (int) Math.max(size.height(), Math.round(image.height() * scale));
    int width = (int) Math.max(size.width(), Math.round(image.width() * scale));
    return BilinearScaler.scale(image, height, width);
  }

  private static Pixels centre(Pixels image, Size size) {
    int top = (image.height() - size.height()) / 2;
    int left = (image.width() - size.width()) / 2;
    return image.crop(top, left, size.height(), size.width());
  }
}

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

  /** Returns the samples of an image of the size. */
  static byte[] shape(InputFile file, PixelRows image, Size size, ImageOptions options) {
    requireCovers(file, image, options);
    return switch (options.mode()) {
      case RESIZE -> BilinearScaler.scale(image, size.height(), size.width(), size);
      case CROP ->
          image.crop(
              (image.height() - size.height()) / 2, (image.width() - size.width()) / 2, size);
      case FIT -> cover(image, size);
    };
  }

  static void requireCovers(InputFile file, PixelRows image, ImageOptions options) {
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

  /** Scales in proportion, one side as wanted, the other at least so, and cuts out the centre. */
  private static byte[] cover(PixelRows image, Size size) {
    double scale =
        Math.max((double) size.height() / image.height(), (double) size.width() / image.width());
    long height = Math.max(size.height(), Math.round(image.height() * scale));
    long width = Math.max(size.width(), Math.round(image.width() * scale));
    return BilinearScaler.scale(image, height, width, size);
  }
}

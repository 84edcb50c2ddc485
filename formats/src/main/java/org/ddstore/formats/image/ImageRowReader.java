// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;
import org.ddstore.formats.image.ImageOptions.Size;

/** A reader of one image as one row. */
record ImageRowReader(
    InputFile file, List<SampleColumn> columns, ImageFormat.Labels labels, ImageOptions options)
    implements SampleReader {
  @Override
  public Values read(int column, long from, int count) throws IOException {
    return switch (columns.get(column).name()) {
      case ImageFormat.IMAGE -> image();
      case ImageFormat.PATH -> Values.texts(file.relativePath());
      default ->
          options.label() == ImageOptions.Label.NAME
              ? Values.texts(file.folderName())
              : Values.fixed(new int[] {labels.names().indexOf(file.folderName())}, 1, 1);
    };
  }

  private Values image() throws IOException {
    int[] shape = columns.get(0).shape();
    Size size = new Size(shape[0], shape[1]);
    PixelRows image;
    try {
      image = ImageDecoder.decode(file, options);
    } catch (BrokenImageException e) {
      throw ImageFormat.broken(file, e);
    }
    if (options.size().isEmpty()
        && (image.height() != size.height() || image.width() != size.width())) {
      throw new FormatException(
          file.path(),
          "has %d x %d pixels, had %d x %d when it was listed: read it when nothing writes it"
              .formatted(image.height(), image.width(), size.height(), size.width()));
    }
    byte[] samples =
        options.size().isPresent()
            ? ImageShaper.shape(file, image, size, options)
            : image.crop(0, 0, size);
    return columns.get(0).values(ByteBuffer.wrap(samples), 1);
  }

  @Override
  public void close() {}
}

// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * Decodes JPEG and PNG to samples of 8 bits. The samples are those of the file: no colour profile
 * is applied, no gamma, and no orientation that a camera has noted. Of samples of 16 bits, the
 * upper 8 count.
 */
final class ImageDecoder {
  /** Above this number of pixels, an image is refused before it takes memory. */
  static final long MAX_PIXELS = 1L << 28;

  private static final String OTHER_COLOURS =
      "colours of JPEG other than grey and RGB, such as CMYK, are not supported: convert the file"
          + " to RGB";

  private static final List<String> FORMATS = List.of("jpeg", "png");
  private static final int ALPHA_BANDS = 4;

  /** Weights of red, green and blue in grey, of ITU-R BT.601, times 2<sup>16</sup>. */
  private static final int[] GREY = {19595, 38470, 7471};

  private ImageDecoder() {}

  /** Returns height and width, which stand in the header. */
  static ImageOptions.Size size(ByteBuffer bytes) throws BrokenImageException {
    return with(bytes, (reader, warnings) -> checkedSize(reader));
  }

  /**
   * Decodes an image.
   *
   * @param channels 1 for grey; 3 for red, green and blue; 4 with alpha
   */
  static Pixels decode(ByteBuffer bytes, int channels) throws BrokenImageException {
    return with(
        bytes,
        (reader, warnings) -> {
          checkedSize(reader);
          BufferedImage image = reader.read(0);
          int colours = image.getColorModel().getColorSpace().getType();
          if (colours != ColorSpace.TYPE_RGB && colours != ColorSpace.TYPE_GRAY) {
            throw new BrokenImageException(OTHER_COLOURS);
          }
          if (!warnings.isEmpty()) {
            throw new BrokenImageException(warnings.get(0));
          }
          return pixels(image, channels);
        });
  }

  /** A use of a reader whose input is set, and which adds warnings of damage to a list. */
  private interface Use<T> {
    T apply(ImageReader reader, List<String> warnings) throws IOException;
  }

  private static <T> T with(ByteBuffer bytes, Use<T> use) throws BrokenImageException {
    // In memory: the default is a temporary file.
    try (ImageInputStream input =
        new MemoryCacheImageInputStream(
            new ByteArrayInputStream(
                bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining()))) {
      ImageReader reader = reader(input);
      try {
        List<String> warnings = new ArrayList<>();
        reader.addIIOReadWarningListener(
            (source, warning) -> {
              if (isDamage(warning)) {
                warnings.add(warning);
              }
            });
        reader.setInput(input, true, true);
        return use.apply(reader, warnings);
      } finally {
        reader.dispose();
      }
    } catch (BrokenImageException e) {
      throw e;
    } catch (IOException | RuntimeException e) { // damaged files make decoders throw many kinds
      throw new BrokenImageException(unsupported(e), e);
    }
  }

  private static String unsupported(Exception e) {
    String message = String.valueOf(e.getMessage());
    return message.contains("Unsupported Image Type")
        ? OTHER_COLOURS
        : "cannot be decoded: " + message;
  }

  private static ImageReader reader(ImageInputStream input) throws IOException {
    for (Iterator<ImageReader> found = ImageIO.getImageReaders(input); found.hasNext(); ) {
      ImageReader reader = found.next();
      if (FORMATS.contains(reader.getFormatName().toLowerCase(Locale.ROOT))) {
        return reader;
      }
      reader.dispose();
    }
    throw new BrokenImageException(
        input.read() < 0
            ? "the file is empty"
            : "neither JPEG nor PNG: the first bytes are others");
  }

  /** Returns whether a warning tells that samples are lost; others are about profiles. */
  private static boolean isDamage(String warning) {
    String text = warning.toLowerCase(Locale.ROOT);
    return text.contains("premature") || text.contains("corrupt") || text.contains("truncat");
  }

  private static ImageOptions.Size checkedSize(ImageReader reader) throws IOException {
    int height = reader.getHeight(0);
    int width = reader.getWidth(0);
    if ((long) height * width > MAX_PIXELS) {
      throw new BrokenImageException(
          "%d x %d pixels are above the limit of %,d".formatted(height, width, MAX_PIXELS));
    }
    return new ImageOptions.Size(height, width);
  }

  private static Pixels pixels(BufferedImage image, int channels) {
    int height = image.getHeight();
    int width = image.getWidth();
    byte[] to = new byte[Math.multiplyExact(height * width, channels)];
    Raster raster = image.getRaster();
    int bands = raster.getNumBands();
    boolean isIndexed = image.getColorModel() instanceof IndexColorModel;
    int[] shifts = shifts(image.getColorModel(), bands);
    int[] row = new int[width * bands];
    int[] rgba = new int[ALPHA_BANDS];
    int place = 0;
    for (int y = 0; y < height; y++) {
      raster.getPixels(raster.getMinX(), raster.getMinY() + y, width, 1, row);
      for (int x = 0; x < width; x++) {
        if (isIndexed) {
          lookUp((IndexColorModel) image.getColorModel(), row[x], rgba);
        } else {
          spread(row, x * bands, bands, shifts, rgba);
        }
        place = put(rgba, channels, to, place);
      }
    }
    return new Pixels(height, width, channels, to);
  }

  /** Returns the number of lower bits that each band has beyond 8. */
  private static int[] shifts(ColorModel model, int bands) {
    int[] sizes = model.getComponentSize();
    int[] shifts = new int[bands];
    Arrays.setAll(shifts, band -> Math.max(0, sizes[band] - Byte.SIZE));
    return shifts;
  }

  private static void lookUp(IndexColorModel palette, int index, int... rgba) {
    rgba[0] = palette.getRed(index);
    rgba[1] = palette.getGreen(index);
    rgba[2] = palette.getBlue(index);
    rgba[3] = palette.getAlpha(index);
  }

  /** Spreads 1 (grey), 2 (grey, alpha), 3 or 4 bands to red, green, blue and alpha. */
  private static void spread(int[] row, int at, int bands, int[] shifts, int... rgba) {
    boolean isGrey = bands < GREY.length;
    for (int i = 0; i < GREY.length; i++) {
      int band = isGrey ? 0 : i;
      rgba[i] = row[at + band] >> shifts[band];
    }
    boolean hasAlpha = bands % 2 == 0;
    rgba[3] = hasAlpha ? row[at + bands - 1] >> shifts[bands - 1] : 0xFF;
  }

  private static int put(int[] rgba, int channels, byte[] to, int place) {
    if (channels == 1) {
      boolean isGrey = rgba[0] == rgba[1] && rgba[1] == rgba[2];
      int weighted = rgba[0] * GREY[0] + rgba[1] * GREY[1] + rgba[2] * GREY[2] + (1 << 15);
      to[place] = (byte) (isGrey ? rgba[0] : weighted >> 16);
      return place + 1;
    }
    for (int i = 0; i < channels; i++) {
      to[place + i] = (byte) rgba[i];
    }
    return place + channels;
  }
}

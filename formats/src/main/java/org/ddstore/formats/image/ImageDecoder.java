// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.DataBufferByte;
import java.awt.image.IndexColorModel;
import java.awt.image.PixelInterleavedSampleModel;
import java.awt.image.Raster;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.spi.ImageReaderSpi;
import javax.imageio.stream.ImageInputStream;

/**
 * Decodes JPEG and PNG to samples of 8 bits. The samples are those of the file: no colour profile,
 * gamma or camera orientation is applied. Samples of 16 bits are reduced to their upper 8 bits.
 */
final class ImageDecoder {
  /** Above this number of pixels, an image is refused before it takes memory. */
  static final long MAX_PIXELS = 1L << 28;

  private static final String OTHER_COLOURS =
      "colours of JPEG other than grey and RGB, such as CMYK, are not supported: convert the file"
          + " to RGB";

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
    try (ImageInputStream input = new BufferImageInput(bytes)) {
      ImageReader reader = reader(bytes);
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

  private static ImageReader reader(ByteBuffer bytes) throws IOException {
    for (Format format : Format.values()) {
      if (format.begins(bytes)) {
        return format.provider.createReaderInstance();
      }
    }
    throw new BrokenImageException(
        bytes.hasRemaining()
            ? "neither JPEG nor PNG: the first bytes are others"
            : "the file is empty");
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
    if (isPlain(raster, image.getColorModel())) {
      copyBytes(raster, channels, to);
    } else {
      copySamples(raster, image.getColorModel(), channels, to);
    }
    return new Pixels(height, width, channels, to);
  }

  /** Returns whether the samples are bytes side by side, as those of most files. */
  private static boolean isPlain(Raster raster, ColorModel model) {
    return raster.getSampleModel() instanceof PixelInterleavedSampleModel
        && raster.getDataBuffer() instanceof DataBufferByte bytes
        && bytes.getOffset() == 0
        && raster.getSampleModelTranslateX() == 0
        && raster.getSampleModelTranslateY() == 0
        && !(model instanceof IndexColorModel)
        && Arrays.stream(model.getComponentSize()).allMatch(bits -> bits == Byte.SIZE);
  }

  private static void copyBytes(Raster raster, int channels, byte... to) {
    PixelInterleavedSampleModel model = (PixelInterleavedSampleModel) raster.getSampleModel();
    byte[] from = ((DataBufferByte) raster.getDataBuffer()).getData();
    int[] bands = model.getBandOffsets();
    boolean isGrey = bands.length < GREY.length;
    int red = bands[0];
    int green = bands[isGrey ? 0 : 1];
    int blue = bands[isGrey ? 0 : 2];
    int alpha = bands.length % 2 == 0 ? bands[bands.length - 1] : -1;
    int place = 0;
    for (int y = 0; y < raster.getHeight(); y++) {
      int pixel = y * model.getScanlineStride();
      for (int x = 0; x < raster.getWidth(); x++) {
        int opacity = alpha < 0 ? 0xFF : from[pixel + alpha] & 0xFF;
        put(
            from[pixel + red] & 0xFF,
            from[pixel + green] & 0xFF,
            from[pixel + blue] & 0xFF,
            opacity,
            channels,
            to,
            place);
        pixel += model.getPixelStride();
        place += channels;
      }
    }
  }

  private static void copySamples(Raster raster, ColorModel model, int channels, byte... to) {
    int width = raster.getWidth();
    int bands = raster.getNumBands();
    int[] shifts = shifts(model, bands);
    int[] row = new int[width * bands];
    int[] rgba = new int[ALPHA_BANDS];
    int place = 0;
    for (int y = 0; y < raster.getHeight(); y++) {
      raster.getPixels(raster.getMinX(), raster.getMinY() + y, width, 1, row);
      for (int x = 0; x < width; x++) {
        if (model instanceof IndexColorModel palette) {
          lookUp(palette, row[x], rgba);
        } else {
          spread(row, x * bands, bands, shifts, rgba);
        }
        put(rgba[0], rgba[1], rgba[2], rgba[3], channels, to, place);
        place += channels;
      }
    }
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

  private static void put(
      int red, int green, int blue, int alpha, int channels, byte[] to, int place) {
    if (channels == 1) {
      boolean isGrey = red == green && green == blue;
      int weighted = red * GREY[0] + green * GREY[1] + blue * GREY[2] + (1 << 15);
      to[place] = (byte) (isGrey ? red : weighted >> 16);
      return;
    }
    to[place] = (byte) red;
    to[place + 1] = (byte) green;
    to[place + 2] = (byte) blue;
    if (channels == ALPHA_BANDS) {
      to[place + 3] = (byte) alpha;
    }
  }

  /** The supported formats, with the reader that the JVM prefers. */
  private enum Format {
    JPEG("\u00FF\u00D8\u00FF"),
    PNG("\u0089PNG");

    /** The first bytes, each as a character. */
    private final String signature;

    @SuppressWarnings("ImmutableEnumChecker") // creates readers, which is all that is used
    private final ImageReaderSpi provider;

    Format(String signature) {
      this.signature = signature;
      ImageReader reader = ImageIO.getImageReadersByFormatName(name()).next();
      this.provider = reader.getOriginatingProvider();
      reader.dispose();
    }

    boolean begins(ByteBuffer bytes) {
      boolean begins = bytes.remaining() >= signature.length();
      for (int i = 0; begins && i < signature.length(); i++) {
        begins = (bytes.get(bytes.position() + i) & 0xFF) == signature.charAt(i);
      }
      return begins;
    }
  }
}

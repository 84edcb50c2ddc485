// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.awt.image.ColorModel;
import java.awt.image.DataBufferByte;
import java.awt.image.IndexColorModel;
import java.awt.image.PixelInterleavedSampleModel;
import java.awt.image.Raster;
import java.util.Arrays;

/**
 * The rows of a decoded image as samples of 8 bits, the channels of a pixel side by side. They are
 * converted when they are copied, so that an image that is scaled is in memory once.
 */
final class PixelRows {
  private static final int ALPHA_BANDS = 4;

  /** Pixels that are converted at once. */
  private static final int STEP = 1024;

  /** Weights of red, green and blue in grey, of ITU-R BT.601, times 2<sup>16</sup>. */
  private static final int[] GREY = {19595, 38470, 7471};

  private final Raster raster;
  private final ColorModel model;
  private final int channels;
  private final boolean isPlain;
  private final int[] shifts;
  private final int[] row;

  /**
   * Takes the samples of an image.
   *
   * @param channels 1 for grey; 3 for red, green and blue; 4 with alpha
   */
  PixelRows(Raster raster, ColorModel model, int channels) {
    this.raster = raster;
    this.model = model;
    this.channels = channels;
    this.isPlain = isPlain(raster, model);
    this.shifts = shifts(model, raster.getNumBands());
    this.row = isPlain ? new int[0] : new int[STEP * raster.getNumBands()];
  }

  int height() {
    return raster.getHeight();
  }

  int width() {
    return raster.getWidth();
  }

  int channels() {
    return channels;
  }

  /** Returns a rectangle inside the image. */
  byte[] crop(int top, int left, ImageOptions.Size size) {
    int rowBytes = Math.multiplyExact(size.width(), channels);
    byte[] to = new byte[Math.multiplyExact(size.height(), rowBytes)];
    for (int y = 0; y < size.height(); y++) {
      copy(top + y, left, size.width(), to, y * rowBytes);
    }
    return to;
  }

  /** Copies {@code count} pixels of a row, from pixel {@code left} on, to a place of an array. */
  void copy(int y, int left, int count, byte[] to, int offset) {
    if (isPlain) {
      copyBytes(y, left, count, to, offset);
      return;
    }
    for (int done = 0; done < count; done += STEP) {
      copySamples(y, left + done, Math.min(STEP, count - done), to, offset + done * channels);
    }
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

  private void copyBytes(int y, int left, int count, byte[] to, int offset) {
    PixelInterleavedSampleModel samples = (PixelInterleavedSampleModel) raster.getSampleModel();
    byte[] from = ((DataBufferByte) raster.getDataBuffer()).getData();
    int[] bands = samples.getBandOffsets();
    boolean isGrey = bands.length < GREY.length;
    int red = bands[0];
    int green = bands[isGrey ? 0 : 1];
    int blue = bands[isGrey ? 0 : 2];
    int alpha = bands.length % 2 == 0 ? bands[bands.length - 1] : -1;
    int place = offset;
    int pixel = y * samples.getScanlineStride() + left * samples.getPixelStride();
    for (int x = 0; x < count; x++) {
      int opacity = alpha < 0 ? 0xFF : from[pixel + alpha] & 0xFF;
      put(
          from[pixel + red] & 0xFF,
          from[pixel + green] & 0xFF,
          from[pixel + blue] & 0xFF,
          opacity,
          to,
          place);
      pixel += samples.getPixelStride();
      place += channels;
    }
  }

  private void copySamples(int y, int left, int count, byte[] to, int offset) {
    int bands = raster.getNumBands();
    int[] rgba = new int[ALPHA_BANDS];
    int place = offset;
    raster.getPixels(raster.getMinX() + left, raster.getMinY() + y, count, 1, row);
    for (int x = 0; x < count; x++) {
      if (model instanceof IndexColorModel palette) {
        lookUp(palette, row[x], rgba);
      } else {
        spread(x * bands, bands, rgba);
      }
      put(rgba[0], rgba[1], rgba[2], rgba[3], to, place);
      place += channels;
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
  private void spread(int at, int bands, int... rgba) {
    boolean isGrey = bands < GREY.length;
    for (int i = 0; i < GREY.length; i++) {
      int band = isGrey ? 0 : i;
      rgba[i] = row[at + band] >> shifts[band];
    }
    boolean hasAlpha = bands % 2 == 0;
    rgba[3] = hasAlpha ? row[at + bands - 1] >> shifts[bands - 1] : 0xFF;
  }

  private void put(int red, int green, int blue, int alpha, byte[] to, int place) {
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
}
